package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.testkit.mutant.MutantHunt;
import io.mortise.testkit.mutant.MutantHunt.Outcome;
import io.mortise.testkit.mutant.MutantLog;
import io.mortise.testkit.mutant.MutantOperators;
import io.mortise.testkit.mutant.ScriptMutant;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each small change to a script is noticed by the tests of the store. */
@Timeout(180)
class ScriptMutantsTest {
  private static final String FOLDER = "io/mortise/redis/";
  private static final String CONTRACT = "io.mortise.redis.Redis7ContractTest";
  private static final String DIFFERENTIAL = "io.mortise.redis.Redis7DifferentialTest";
  private static final Duration EACH = Duration.ofSeconds(90);

  private final MutantHunt hunt =
      new MutantHunt(ScriptMutantsTest.class, RedisStore.class, Set.of(Servers.class.getName()));

  private static List<ScriptMutant> mutants(String file) throws IOException {
    try (InputStream in = RedisStore.class.getResourceAsStream(file)) {
      String text = new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
      return MutantOperators.LUA.mutants(FOLDER + file, text);
    }
  }

  /** A few that stand for all: the whole hunt takes hours. */
  @ParameterizedTest
  @CsvSource({
    "renew.lua, comparison, if beat",
    "renew.lua, key, local told",
    "renew.lua, number, 'for i = 1,'",
  })
  void givenChangedScript_thenTheContractNotices(String file, String operator, String line)
      throws IOException {
    Servers.REDIS_7.binary();
    ScriptMutant mutant =
        mutants(file).stream()
            .filter(each -> each.operator().equals(operator) && each.before().startsWith(line))
            .findFirst()
            .orElseThrow();

    Outcome outcome = hunt.run(mutant, List.of(CONTRACT, DIFFERENTIAL), EACH);

    assertThat(outcome.killer()).as(mutant.toString()).isNotNull();
  }

  /** Which tests are to notice changes of a script. */
  private enum Hunted {
    RENEW(
        "renew.lua",
        CONTRACT,
        "io.mortise.redis.StrictExpiryTest",
        "io.mortise.redis.ForgettingTest",
        "io.mortise.redis.FaultTest",
        DIFFERENTIAL),
    JUDGE("judge.lua", CONTRACT, DIFFERENTIAL),
    CLOSE("close.lua", CONTRACT, DIFFERENTIAL),
    INSPECT("inspect.lua", CONTRACT, DIFFERENTIAL),
    FENCE("fence.lua", "io.mortise.redis.RedisFenceTest"),
    STRICT_END("strict_end.lua", "io.mortise.redis.StrictExpiryTest"),
    STRICT_REVIVE("strict_revive.lua", "io.mortise.redis.StrictExpiryTest"),
    STRICT_MODE("strict_mode.lua", "io.mortise.redis.StrictExpiryTest"),
    SHARDS("sharded/shards.lua", "io.mortise.redis.ShardedTest"),
    RELEASE(
        "plain/release.lua",
        "io.mortise.redis.Plain6ContractTest",
        "io.mortise.redis.PlainDifferentialTest"),
    EXTEND(
        "plain/extend.lua",
        "io.mortise.redis.Plain6ContractTest",
        "io.mortise.redis.PlainDifferentialTest"),
    HASH_TAKE(
        "plain/hash_take.lua",
        "io.mortise.redis.PlainHashContractTest",
        "io.mortise.redis.PlainHashDifferentialTest"),
    HASH_RELEASE(
        "plain/hash_release.lua",
        "io.mortise.redis.PlainHashContractTest",
        "io.mortise.redis.PlainHashDifferentialTest"),
    HASH_EXTEND(
        "plain/hash_extend.lua",
        "io.mortise.redis.PlainHashContractTest",
        "io.mortise.redis.PlainHashDifferentialTest"),
    LOCK("lock.lua", CONTRACT, DIFFERENTIAL);

    final String file;

    @SuppressWarnings("ImmutableEnumChecker") // List.of
    final List<String> tests;

    Hunted(String file, String... tests) {
      this.file = file;
      this.tests = List.of(tests);
    }
  }

  @Test
  @Timeout(36_000)
  @EnabledIfSystemProperty(named = "mortise.mutants", matches = ".+")
  void givenAllChanges_thenWhatBecomesOfEachIsWrittenDown() throws IOException {
    String wanted = System.getProperty("mortise.mutants");
    MutantLog log =
        new MutantLog(Path.of(System.getProperty("mortise.mutants.log", "target/mutants.tsv")));
    Duration time = Duration.ofSeconds(Long.getLong("mortise.mutants.seconds", 7_200));
    long end = System.nanoTime() + time.toNanos();
    for (Hunted hunted : Hunted.values()) {
      if (!hunted.file.matches(wanted)) {
        continue;
      }
      Outcome unchanged = hunt.run(null, hunted.tests, EACH);
      assertThat(unchanged.killer()).as("unchanged: " + hunted.file).isNull();
      System.out.println(hunted.file + ", unchanged: " + unchanged);
      Duration left = Duration.ofNanos(end - System.nanoTime());
      int open =
          log.hunt(hunt, mutants(hunted.file), hunted.tests, EACH, left, ScriptMutantsTest::repair);
      System.out.println(hunted.file + ": " + open + " not looked at yet");
    }
  }

  private static void repair() {
    for (Servers version : Servers.values()) {
      version.shared().kill();
      version.shared().restart();
    }
  }
}
