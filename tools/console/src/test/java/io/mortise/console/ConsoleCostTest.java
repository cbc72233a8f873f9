package io.mortise.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.jr.ob.JSON;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.TestPrerequisites;
import io.mortise.testserver.RawRedisConnection;
import io.mortise.testserver.RedisServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The cost of a console with three open pages for a real Redis, by the server's counters. {@code
 * -Dmortise.held=1000000} sets the number of locks.
 */
@Tag("extended")
class ConsoleCostTest {
  private static final double BUDGET = 0.01;

  /** The credit at the start, and one page beyond it. */
  private static final Duration FREE = Duration.ofMillis(400);

  private static final Duration TIME =
      Duration.ofSeconds(Integer.getInteger("mortise.held.seconds", 20));

  private static final Pattern LINE = Pattern.compile("cmdstat_(\\w+):calls=(\\d+),usec=(\\d+),");

  private RawHttp http;

  static List<Integer> held() {
    Integer wanted = Integer.getInteger("mortise.held");
    return wanted == null ? List.of(1_000, 100_000) : List.of(wanted);
  }

  /** The server's work for observation. */
  private record Work(long calls, Duration time) {}

  private static Work work(RawRedisConnection redis) {
    long calls = 0;
    long micros = 0;
    Matcher line = LINE.matcher(String.valueOf(redis.call("INFO", "commandstats")));
    while (line.find()) {
      if (!line.group(1).equals("info") && !line.group(1).startsWith("config")) {
        calls += Long.parseLong(line.group(2));
        micros += Long.parseLong(line.group(3));
      }
    }
    return new Work(calls, Duration.ofNanos(micros * 1000));
  }

  @SuppressWarnings("unchecked") // The answers of the API are objects.
  private Map<String, Object> status() throws IOException {
    return (Map<String, Object>) JSON.std.anyFrom(http.get("/api/v1/status").body());
  }

  private long seen() throws IOException {
    Map<?, ?> counts = (Map<?, ?>) Objects.requireNonNull(status().get("counts"));
    return ((Number) counts.get("locks")).longValue();
  }

  @ParameterizedTest
  @MethodSource("held")
  @Timeout(400)
  void givenManyHeldLocks_whenThreePagesWatch_thenTheServerWorksWithinTheBudget(int locks)
      throws Exception {
    List<Socket> pages = new ArrayList<>();
    try (RedisServer server =
            RedisServer.start(TestPrerequisites.required(RedisServer.bundled(), "Redis"));
        LockClient holder = LockClient.connect(server.url() + "?timeout=20s");
        LockClient looking = LockClient.connect(server.url() + "?timeout=20s");
        RawRedisConnection redis = new RawRedisConnection(server.port());
        Lease lease = holder.lock("held/0").acquire()) {
      redis.patience(120_000);
      // The record of one lock, under many names.
      redis.call(
          "EVAL",
          "local record = redis.call('GET', 'm::l:held/0') for i = 1, ARGV[1] - 1 do"
              + " redis.call('SET', 'm::l:held/' .. i, record) end",
          "0",
          Integer.toString(locks));
      redis.call("CONFIG", "RESETSTAT");
      long began = System.nanoTime();
      try (Console console =
          Console.builder(looking)
              .listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
              .budget(BUDGET)
              .start()) {
        http = new RawHttp(console);
        for (int i = 0; i < 3; i++) {
          Socket page = http.open();
          pages.add(page);
          page.getOutputStream().write(http.stream("waits=true&processes=true&list=limit%3D50"));
        }
        await()
            .pollInterval(Duration.ofSeconds(1))
            .atMost(BoundedWait.scaled(Duration.ofSeconds(200)))
            .until(() -> System.nanoTime() - began > TIME.toNanos());
        Duration time = Duration.ofNanos(System.nanoTime() - began);
        Work work = work(redis);
        double used = ((Number) ((Map<?, ?>) status().get("budget")).get("used")).doubleValue();
        Map<?, ?> survey = (Map<?, ?>) status().get("survey");
        System.out.printf(
            "%d held, three pages: in %.1f s %d commands, %.3f s of the server (%.2f %%); the"
                + " console counts %.2f %% of the last minute; a survey took %s ms%n",
            locks,
            time.toMillis() / 1e3,
            work.calls(),
            work.time().toMillis() / 1e3,
            100.0 * work.time().toNanos() / time.toNanos(),
            100 * used,
            survey.get("tookMillis"));
        // The positive control: it has observed repeatedly.
        assertThat(work.calls()).isGreaterThan(20);
        assertThat(seen()).isBetween(500L, (long) locks);
        assertThat(work.time())
            .isLessThan(Duration.ofNanos((long) (BUDGET * time.toNanos())).plus(FREE));
      }
      assertThat(lease.isValid()).isTrue();
    } finally {
      for (Socket page : pages) {
        page.close();
      }
    }
  }
}
