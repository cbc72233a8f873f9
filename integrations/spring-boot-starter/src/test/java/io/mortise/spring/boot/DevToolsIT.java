package io.mortise.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.TestPrerequisites;
import io.mortise.testserver.RawRedisConnection;
import io.mortise.testserver.RedisServer;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * An application under Spring Boot's developer tools: as its classes change, its context is closed
 * and opened again in the same JVM, by another class loader.
 */
@EnabledIfSystemProperty(named = "mortise.boot", matches = ".+")
class DevToolsIT {
  private static final Duration RESTART = Duration.ofSeconds(60);

  private static final int GENERATIONS = 3;

  /**
   * The wait for the held lock is shorter than the TTL, so the previous context has released it.
   */
  private static final String SOURCE =
      """
      package shop;

      import io.mortise.*;
      import io.mortise.spring.*;
      import java.time.Duration;
      import java.util.concurrent.CountDownLatch;
      import org.springframework.boot.*;
      import org.springframework.boot.autoconfigure.SpringBootApplication;
      import org.springframework.stereotype.Component;

      @SpringBootApplication
      public class Shop {
        @Component
        static class Invoices {
          @Locked("invoice/#{#id}")
          public void pay(long id) {}
        }

        @Component
        static class Worker implements CommandLineRunner {
          private final LockClient locks;
          private final Invoices invoices;

          Worker(LockClient locks, Invoices invoices) {
            this.locks = locks;
            this.invoices = invoices;
          }

          @Override
          public void run(String... arguments) throws Exception {
            invoices.pay(42);
            Lease held = locks.lock("held").acquireWithin(Duration.ofSeconds(20));
            CountDownLatch leads = new CountDownLatch(1);
            locks.leader("leader", term -> {
              leads.countDown();
              Thread.currentThread().join();
            });
            leads.await();
            locks.lock("other", LockOptions.DEFAULTS.withLabel("generation %d")).acquireAsync();
            while (locks.admin().find("other").orElseThrow().waiters().stream()
                .noneMatch(waiter -> waiter.label().equals("generation %d"))) {
              Thread.sleep(5);
            }
            System.out.println(
                "generation %d token " + held.token() + " threads " + threads());
          }
        }

        static long threads() {
          return Thread.getAllStackTraces().keySet().stream()
              .filter(thread -> thread.getName().startsWith("mortise")).count();
        }

        public static void main(String[] arguments) {
          SpringApplication.run(Shop.class, arguments);
        }
      }
      """;

  private static final Pattern STARTED =
      Pattern.compile("generation (\\d+) token (\\d+) threads (\\d+)");

  @TempDir private Path folder;

  @Test
  void givenChangedClasses_whenTheContextStartsAgain_thenNothingOfTheOneBeforeStays()
      throws Exception {
    Path classes = Files.createDirectory(folder.resolve("classes"));
    String classPath =
        String.join(
            File.pathSeparator,
            classes.toString(),
            System.getProperty("mortise.devtools"),
            Files.readString(Path.of(System.getProperty("mortise.new-user"))).strip());
    Path output = folder.resolve("output");
    try (RedisServer redis =
            RedisServer.start(TestPrerequisites.required(RedisServer.bundled(), "Redis"));
        LockClient client = LockClient.connect(redis.url());
        Lease other = client.lock("other").acquireWithin(RESTART)) {
      compile(classes, classPath, 1);
      Process app = start(classPath, redis.url(), output);
      try {
        MatchResult first = awaitGeneration(output, 1);
        int connections = connections(redis);
        long token = Long.parseLong(first.group(2));
        for (int generation = 2; generation <= GENERATIONS; generation++) {
          compile(classes, classPath, generation);
          MatchResult next = awaitGeneration(output, generation);
          assertThat(Long.parseLong(next.group(2))).as("token").isGreaterThan(token);
          assertThat(next.group(3)).as("threads").isEqualTo(first.group(3));
          assertThat(connections(redis)).as("connections").isEqualTo(connections);
          assertThat(client.admin().find("other").orElseThrow().waiterCount()).isEqualTo(1);
          assertThat(client.admin().sessions(null, 10).items()).as("sessions").hasSize(2);
          token = Long.parseLong(next.group(2));
        }
        assertThat(other.isValid()).isTrue();
      } finally {
        app.destroyForcibly().waitFor();
      }
    }
  }

  private void compile(Path classes, String classPath, int generation) throws Exception {
    Path source =
        Files.writeString(
            folder.resolve("Shop.java"),
            SOURCE.replace("generation %d", "generation " + generation));
    AppSource.compile(classes, classPath, List.of(source));
  }

  private Process start(String classPath, String url, Path output) throws Exception {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-Xmx128m",
            "-cp",
            classPath,
            "shop.Shop",
            "--mortise.url=" + url,
            "--spring.main.keep-alive=true",
            "--spring.devtools.restart.poll-interval=400ms",
            "--spring.devtools.restart.quiet-period=200ms",
            "--spring.devtools.livereload.enabled=false")
        .directory(folder.toFile())
        .redirectErrorStream(true)
        .redirectOutput(output.toFile())
        .start();
  }

  private static MatchResult awaitGeneration(Path output, int generation) throws Exception {
    BoundedWait.until(
        RESTART,
        "generation " + generation + " started",
        () -> !started(output, generation).isEmpty());
    List<MatchResult> starts = started(output, generation);
    return starts.get(starts.size() - 1);
  }

  /** Starts of one generation. Two restarts may follow one compilation. */
  private static List<MatchResult> started(Path output, int generation) {
    String wanted = Integer.toString(generation);
    try {
      return STARTED
          .matcher(Files.readString(output))
          .results()
          .filter(start -> start.group(1).equals(wanted))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static int connections(RedisServer redis) throws Exception {
    try (RawRedisConnection connection = new RawRedisConnection(redis.port())) {
      return String.valueOf(connection.call("CLIENT", "LIST")).split("\n", -1).length;
    }
  }
}
