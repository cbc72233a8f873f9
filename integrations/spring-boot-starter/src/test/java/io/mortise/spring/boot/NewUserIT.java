package io.mortise.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.LockClient;
import io.mortise.testkit.TestPrerequisites;
import io.mortise.testserver.RedisServer;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * An application as a new user writes it: Maven resolves the class path from Spring Boot's BOM and
 * two dependencies, {@code mortise-spring-boot-starter} and {@code mortise-redis}.
 */
@EnabledIfSystemProperty(named = "mortise.boot", matches = ".+")
class NewUserIT {
  private static final String SOURCE =
      """
      package shop;

      import io.mortise.spring.*;
      import org.springframework.boot.SpringApplication;
      import org.springframework.boot.autoconfigure.SpringBootApplication;

      @SpringBootApplication
      public class Shop {
        @org.springframework.stereotype.Component
        static class Invoices {
          @Locked("invoice/#{#id}")
          public void pay(long id) {
            System.out.println("token " + LockContext.current().token());
          }
        }

        public static void main(String[] arguments) {
          SpringApplication.run(Shop.class, arguments).getBean(Invoices.class).pay(42);
        }
      }
      """;

  @TempDir private Path folder;
  private String classPath;
  private RedisServer redis;

  @BeforeEach
  void writeAndCompile() throws Exception {
    classPath =
        String.join(
            File.pathSeparator,
            folder.toString(),
            folder.resolve("generated/classes").toString(),
            Files.readString(Path.of(System.getProperty("mortise.new-user"))).strip());
    redis = RedisServer.start(TestPrerequisites.required(RedisServer.bundled(), "Redis"));
    Files.writeString(
        folder.resolve("application.yaml"),
        """
        spring.application.name: shop
        mortise:
          url: %s
        """
            .formatted(redis.url()));
    AppSource.compile(
        folder, classPath, List.of(Files.writeString(folder.resolve("Shop.java"), SOURCE)));
  }

  @AfterEach
  void stop() {
    if (redis != null) {
      redis.close();
    }
  }

  @Test
  void givenTwoDependencies_whenApplicationRuns_thenItsMethodIsLockedInTheStoreOfItsYaml()
      throws Exception {
    assertThat(SOURCE.lines().filter(NewUserIT::isOwn).count()).isLessThan(15);
    assertThat(classPath).doesNotContain("lettuce").doesNotContain("micrometer-core");
    assertLocks(run("shop.Shop"));
  }

  /** Ahead-of-time processing of Spring, on the JVM. */
  @Test
  void givenProcessingAheadOfTime_whenApplicationRuns_thenItsMethodIsLockedToo() throws Exception {
    Path sources = folder.resolve("generated/sources");
    run(
        "org.springframework.boot.SpringApplicationAotProcessor",
        "shop.Shop",
        sources.toString(),
        folder.resolve("generated/resources").toString(),
        folder.resolve("generated/classes").toString(),
        "shop",
        "shop");
    try (Stream<Path> generated = Files.walk(sources)) {
      AppSource.compile(
          folder, classPath, generated.filter(file -> file.toString().endsWith(".java")).toList());
    }
    String said = run("-Dspring.aot.enabled=true", "shop.Shop");
    assertThat(said).contains("AOT-processed");
    assertLocks(said);
  }

  private void assertLocks(String said) {
    assertThat(said).contains("Start").containsPattern("token [1-9][0-9]*");
    try (LockClient client = LockClient.connect(redis.url())) {
      assertThat(client.admin().find("invoice/42")).as("the lock, used lately").isPresent();
    }
  }

  /** Neither blank nor an import nor a closing brace. */
  private static boolean isOwn(String line) {
    return !line.isBlank() && !line.startsWith("import") && !line.strip().equals("}");
  }

  /** Runs a JVM to its end, and returns its output. */
  private String run(String... words) throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                classPath));
    command.addAll(List.of(words));
    Path output = folder.resolve("output");
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile());
    // As under "mortise run", and in a shell where the tool is set up.
    builder
        .environment()
        .putAll(
            Map.of(
                "MORTISE_STORE", "jdbc:sqlite:/no/such/folder/locks.db",
                "MORTISE_LOCK", "outer",
                "MORTISE_TOKEN", "17",
                "MORTISE_PID", "1"));
    Process process = builder.start();
    try {
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).as("it ends").isTrue();
    } finally {
      process.destroyForcibly();
    }
    String said = Files.readString(output);
    assertThat(process.exitValue()).as(said).isZero();
    return said;
  }
}
