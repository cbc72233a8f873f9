package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.testserver.RedisServer;
import io.mortise.verification.mutant.EquivalentMutants;
import io.mortise.verification.mutant.MutantLog;
import io.mortise.verification.mutant.MutationOperators;
import io.mortise.verification.mutant.MutationTestRunner;
import io.mortise.verification.mutant.MutationTestRunner.Outcome;
import io.mortise.verification.mutant.MutationTestRunner.TestStage;
import io.mortise.verification.mutant.ScriptMutant;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each small change to a script is noticed by the tests of the store. */
@Timeout(180)
class ScriptMutantsTest {
  private static final String FOLDER = "io/mortise/redis/";
  private static final List<TestStage> STORE =
      List.of(
          TestStage.oneByOne(in("Redis7DifferentialTest")),
          TestStage.oneByOne(in("RedisTimeDifferentialTest")),
          TestStage.together(in("Redis7ContractTest")));
  private static final List<TestStage> LOCK =
      Stream.concat(
              Stream.of(
                  TestStage.oneByOne(
                      in(
                          "LockTranscriptTest",
                          "LockScriptWaiterTest",
                          "LockScriptHandoffTest",
                          "ScriptFastPathEquivalenceTest"))),
              STORE.stream())
          .toList();
  private static final List<TestStage> INSPECT =
      Stream.concat(Stream.of(TestStage.oneByOne(in("InspectScriptTest"))), STORE.stream())
          .toList();
  private static final TestStage SCRIPTS = TestStage.oneByOne(in("SessionScriptsTest"));
  private static final List<TestStage> SESSION = List.of(SCRIPTS, STORE.get(0), STORE.get(2));
  private static final List<TestStage> STRICT = List.of(SCRIPTS);
  private static final List<TestStage> PLAIN =
      List.of(
          TestStage.oneByOne(in("PlainDifferentialTest")),
          TestStage.together(in("Plain6ContractTest")));
  private static final List<TestStage> HASH =
      List.of(
          TestStage.oneByOne(in("PlainHashDifferentialTest")),
          TestStage.together(in("PlainHashContractTest")));
  private static final String CLIENT = "Redis7ClientTest";
  private static final String PLAIN_CLIENT = "PlainClientTest";
  private static final String SHRINKING = "mortise.diff.shrinking";
  private static final Duration EACH = Duration.ofMinutes(4);
  private static final Path LISTS = Path.of("src/test/resources/io/mortise/redis/mutants");

  private final MutationTestRunner hunt =
      new MutationTestRunner(
          ScriptMutantsTest.class,
          RedisStore.class,
          Set.of(RedisServers.class.getName(), AdjustableClockServer.class.getName()));

  private static List<ScriptMutant> mutants(String file) throws IOException {
    try (InputStream in = RedisStore.class.getResourceAsStream(file)) {
      String text = new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
      return MutationOperators.LUA.mutants(FOLDER + file, text);
    }
  }

  /** One failing run of the differential test is enough; it need not be shortened. */
  @BeforeAll
  static void shortenNothing() {
    System.setProperty(SHRINKING, "0");
  }

  @AfterAll
  static void shortenAgain() {
    System.clearProperty(SHRINKING);
  }

  /** Each line of {@code mutants/*.tsv} fits one existing mutant, and has a reason. */
  @Test
  void givenListOfSurvivors_thenEachIsAMutant() throws IOException {
    assertThat(survivors().size()).isPositive();
  }

  private static EquivalentMutants survivors() throws IOException {
    List<ScriptMutant> all = new ArrayList<>();
    for (MutantTarget mutantTarget : MutantTarget.values()) {
      all.addAll(mutants(mutantTarget.file));
    }
    return EquivalentMutants.in(LISTS, all, FOLDER);
  }

  /** A sample: the whole hunt takes hours. */
  @ParameterizedTest
  @CsvSource({
    "renew.lua, comparison, if beat",
    "renew.lua, key, local told",
    "renew.lua, number, 'for i = 1,'",
  })
  void givenChangedScript_thenTheContractNotices(String file, String operator, String line)
      throws IOException {
    RedisServers.REDIS_7.binary();
    ScriptMutant mutant =
        mutants(file).stream()
            .filter(each -> each.operator().equals(operator) && each.before().startsWith(line))
            .findFirst()
            .orElseThrow();

    Outcome outcome = hunt.run(mutant, STORE, EACH);

    assertThat(outcome.killer()).as(mutant.toString()).isNotNull();
  }

  /** The tests that should notice changes of a script. */
  private enum MutantTarget {
    RENEW(
        "renew.lua",
        SESSION,
        "StrictExpiryTest",
        "AcknowledgedDataLossTest",
        "RedisFaultTest",
        "SentinelTest",
        CLIENT),
    JUDGE("judge.lua", SESSION, "StrictExpiryTest", "SentinelTest", CLIENT),
    CLOSE("close.lua", SESSION, "MemoryFootprintTest"),
    STRICT_END("strict_end.lua", STRICT, "StrictExpiryTest"),
    STRICT_REVIVE("strict_revive.lua", STRICT, "StrictExpiryTest"),
    STRICT_MODE("strict_mode.lua", STRICT, "StrictExpiryTest"),
    FENCE("fence.lua", List.of(TestStage.oneByOne(in("RedisFenceTest")))),
    RELEASE("plain/release.lua", PLAIN, "PlainInteropTest", "PlainFaultTest", PLAIN_CLIENT),
    EXTEND("plain/extend.lua", PLAIN, "PlainInteropTest", "PlainFaultTest", PLAIN_CLIENT),
    HASH_TAKE("plain/hash_take.lua", HASH, "PlainInteropTest", "PlainFaultTest", PLAIN_CLIENT),
    HASH_RELEASE(
        "plain/hash_release.lua", HASH, "PlainInteropTest", "PlainFaultTest", PLAIN_CLIENT),
    HASH_EXTEND("plain/hash_extend.lua", HASH, "PlainInteropTest", "PlainFaultTest", PLAIN_CLIENT),
    INSPECT("inspect.lua", ScriptMutantsTest.INSPECT, "RedisFaultTest", CLIENT),
    SHORTEN("shorten.lua", List.of(SCRIPTS)),
    SHARDS("sharded/shards.lua", List.of(SCRIPTS), "ShardedTest"),
    LOCK(
        "lock.lua",
        ScriptMutantsTest.LOCK,
        "Redis6DifferentialTest",
        CLIENT,
        "RedisFaultTest",
        "AcknowledgedDataLossTest",
        "DataLossAfterRestartTest",
        "MemoryFootprintTest",
        "ManyWaitersTest",
        "RedisClockTest",
        "RedisClusterTest");

    final String file;

    @SuppressWarnings("ImmutableEnumChecker") // List.of
    final List<TestStage> testStages;

    /**
     * A script and its tests.
     *
     * @param more in a last step
     */
    MutantTarget(String file, List<TestStage> testStages, String... more) {
      this.file = file;
      this.testStages =
          Stream.concat(
                  testStages.stream(),
                  Stream.of(more).limit(1).map(any -> TestStage.oneByOne(in(more))))
              .toList();
    }
  }

  private static String[] in(String... tests) {
    return Stream.of(tests).map(test -> "io.mortise.redis." + test).toArray(String[]::new);
  }

  @Test
  @Timeout(36_000)
  @EnabledIfSystemProperty(named = "mortise.mutants", matches = ".+")
  void givenAllChanges_thenWhatBecomesOfEachIsWrittenDown() throws IOException {
    String wanted = System.getProperty("mortise.mutants");
    int most = Integer.getInteger("mortise.mutants.steps", 4);
    MutantLog log =
        new MutantLog(Path.of(System.getProperty("mortise.mutants.log", "target/mutants.tsv")));
    Duration time = Duration.ofSeconds(Long.getLong("mortise.mutants.seconds", 7_200));
    long end = System.nanoTime() + time.toNanos();
    EquivalentMutants equivalentMutants = survivors();
    for (MutantTarget mutantTarget : MutantTarget.values()) {
      if (mutantTarget.file.matches(wanted)) {
        List<TestStage> testStages =
            mutantTarget.testStages.subList(0, Math.min(most, mutantTarget.testStages.size()));
        Duration left = Duration.ofNanos(end - System.nanoTime());
        List<ScriptMutant> mutants = new ArrayList<>(mutants(mutantTarget.file));
        mutants.removeIf(equivalentMutants::has);
        int yet = log.hunt(hunt, mutants, testStages, EACH, left, ScriptMutantsTest::tidy);
        System.out.println(mutantTarget.file + ": " + yet + " not looked at yet");
      }
    }
  }

  /** Cleans up after a mutant, an endless script included. */
  private static void tidy() {
    List<RedisServer> servers =
        Stream.concat(RedisServers.started().stream(), AdjustableClockServer.started().stream())
            .toList();
    for (RedisServer server : servers) {
      try {
        server.ask("FLUSHALL");
        server.ask("SCRIPT", "FLUSH");
        server.ask("CONFIG", "SET", "lua-time-limit", "500");
      } catch (UncheckedIOException | IllegalStateException e) {
        server.restartEmpty();
      }
    }
  }
}
