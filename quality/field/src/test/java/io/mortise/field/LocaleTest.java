package io.mortise.field;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.FencingToken;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StaleTokenException;
import io.mortise.admin.LockInfo;
import io.mortise.redis.RedisFence;
import io.mortise.testkit.TestPrerequisites;
import io.mortise.testkit.server.JvmProcess;
import io.mortise.testserver.RawRedisConnection;
import io.mortise.testserver.RedisCluster;
import io.mortise.testserver.RedisServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Locales with digits, letters and years of their own. */
@Tag("extended")
class LocaleTest {
  /** Longer than the TTL. */
  private static final Duration TTL = Duration.ofSeconds(2);

  /** Options of a container of that locale. */
  private static final List<String> ARABIC =
      List.of(
          "env",
          "JDK_JAVA_OPTIONS="
              + JvmSettingsTest.CREDENTIALS
              + " -Duser.language=ar -Duser.country=EG -Duser.extensions=u-nu-arab");

  /** Further locales of that process. */
  private static final List<String> FURTHER =
      List.of("fa-IR-u-nu-arabext", "hi-IN-u-nu-deva", "th-TH-u-ca-buddhist-nu-thai", "tr-TR");

  /** A process that switches through those locales: {@code locks URL} or {@code fence PORT}. */
  public static void main(String[] args) throws Exception {
    if (!String.format("%d", 7).equals("\u0667")) {
      throw new AssertionError("no Arabic digits");
    }
    if (args[0].equals("fence")) {
      fence(Integer.parseInt(args[1]));
      return;
    }
    contend(args[1], true);
    for (String tag : FURTHER) {
      Locale.setDefault(Locale.forLanguageTag(tag));
      contend(args[1], false);
    }
  }

  private static void contend(String url, boolean meets) throws Exception {
    try (LockClient client = LockClient.builder().url(url).ttl(TTL).build()) {
      System.out.println(client.lock("x").tryAcquire().isEmpty());
      try (Lease lease = client.lock("x").acquireWithin(Trial.LONG)) {
        System.out.println(token(lease, url));
        System.out.println(names(client, url));
        next();
      }
      if (meets && !url.startsWith("memcached")) {
        System.out.println(client.barrier("b", 2).await(Trial.LONG));
      }
    }
  }

  private static void fence(int port) throws Exception {
    try (RawRedisConnection redis = new RawRedisConnection(port)) {
      while (true) {
        next();
        long token = Long.parseLong(Character.toString(System.in.read()));
        System.out.println(isLetThrough(redis, token));
      }
    }
  }

  private static void next() throws IOException {
    if (System.in.read() < 0) {
      Runtime.getRuntime().halt(3);
    }
  }

  private static boolean isLetThrough(RawRedisConnection redis, long token) {
    RedisFence fence =
        RedisFence.over(
            (script, keys, args) -> {
              List<String> words = new ArrayList<>(List.of("EVAL", script, "" + keys.size()));
              words.addAll(keys);
              words.addAll(args);
              return (List<?>) redis.call(words.toArray(String[]::new));
            });
    try {
      fence.write(
          "data", new FencingToken("x", token, "holder" + token), "SET", "data", "" + token);
      return true;
    } catch (StaleTokenException e) {
      return false;
    }
  }

  /** Memcached has no tokens: the clock that both processes read stands in. */
  private static long token(Lease lease, String url) {
    return url.startsWith("memcached") ? System.nanoTime() : lease.token();
  }

  /** Memcached cannot list names. */
  private static List<String> names(LockClient client, String url) {
    if (url.startsWith("memcached")) {
      return client.admin().find("x").map(LockInfo::name).stream().toList();
    }
    try (var locks = client.admin().stream("")) {
      return locks.map(LockInfo::name).toList();
    }
  }

  @Report({
    "ldtteam/minecolonies#11651",
    "ical4j/ical4j#458",
    "lysine-dev/okhttp#2522",
    "langchain4j/langchain4j#5777",
    "dart-lang/i18n#1064"
  })
  @ParameterizedTest
  @EnumSource
  void givenMachineWithOtherDigits_whenBothWantOneLock_thenTheyExcludeEachOther(FieldStore store)
      throws Exception {
    assertTheyExcludeEachOther(store.newUrl());
  }

  @Report({"ldtteam/minecolonies#11651", "ical4j/ical4j#458"})
  @Test
  void givenRedisCluster_whenAMachineHasOtherDigits_thenItsKeysAreThoseOfTheOthers()
      throws Exception {
    try (RedisCluster cluster =
        RedisCluster.start(
            TestPrerequisites.required(RedisServer.installed(6), "Redis 6"),
            3,
            false,
            Duration.ofSeconds(5))) {
      assertTheyExcludeEachOther(cluster.url());
    }
  }

  private static void assertTheyExcludeEachOther(String url) throws Exception {
    try (LockClient client = LockClient.builder().url(url).ttl(TTL).build()) {
      Lease lease = client.lock("x").acquireWithin(Trial.LONG);
      try (JvmProcess other = JvmProcess.start(ARABIC, LocaleTest.class, "locks", url)) {
        for (int locale = 0; locale <= FURTHER.size(); locale++) {
          assertThat(other.line()).as("refused, %s", locale).isEqualTo("true");
          long token = token(lease, url);
          lease.close();
          long next = Long.parseLong(other.line());
          assertThat(next).isGreaterThan(token);
          assertThat(other.line()).isEqualTo("[x]");
          if (locale == 0) {
            // The lease is renewed more than once meanwhile.
            Optional<Lease> none = client.lock("x").tryAcquire(TTL.plusSeconds(1));
            assertThat(none).isEmpty();
          }
          assertThat(client.lock("x").tryAcquire()).isEmpty();
          if (!url.startsWith("memcached")) {
            assertThat(client.admin().find("x").orElseThrow().holders().get(0).token())
                .isEqualTo(next);
          }
          assertThat(names(client, url)).containsExactly("x");
          CompletableFuture<Lease> after = client.lock("x").acquireAsync(Trial.LONG);
          other.goOn();
          lease = after.get(Trial.LONG.toSeconds(), TimeUnit.SECONDS);
          assertThat(token(lease, url)).isGreaterThan(next);
          if (locale == 0 && !url.startsWith("memcached")) {
            assertThat(client.barrier("b", 2).await(Trial.LONG)).isEqualTo(1);
            assertThat(other.line()).isEqualTo("1");
          }
        }
      }
      lease.close();
    }
  }

  @Report({"ldtteam/minecolonies#11651", "lysine-dev/okhttp#2522"})
  @Test
  void givenFence_whenAMachineHasOtherDigits_thenItsTokensAreThoseOfTheOthers() throws Exception {
    int port = FieldStore.REDIS.shared().port();
    try (RawRedisConnection redis = new RawRedisConnection(port);
        JvmProcess other = JvmProcess.start(ARABIC, LocaleTest.class, "fence", "" + port)) {
      redis.call("DEL", "data", "fence:data");
      assertThat(isLetThrough(redis, 4)).isTrue();
      assertThat(elsewhere(other, 5)).isTrue();
      assertThat(isLetThrough(redis, 6)).isTrue();
      assertThat(elsewhere(other, 5)).isFalse();
      assertThat(elsewhere(other, 8)).isTrue();
      assertThat(elsewhere(other, 7)).isFalse();
      assertThat(isLetThrough(redis, 7)).isFalse();
      assertThat(isLetThrough(redis, 9)).isTrue();
    }
  }

  private static boolean elsewhere(JvmProcess other, long token) throws IOException {
    other.process().getOutputStream().write(("\n" + token).getBytes(StandardCharsets.US_ASCII));
    other.process().getOutputStream().flush();
    return Boolean.parseBoolean(other.line());
  }
}
