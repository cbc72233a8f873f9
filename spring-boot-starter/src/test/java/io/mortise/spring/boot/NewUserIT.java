package io.mortise.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.LockClient;
import io.mortise.testkit.TestPrerequisites;
import io.mortise.testkit.server.RedisServer;
import java.io.File;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * An application as a new user writes it: the class path is what Maven makes of Spring Boot's BOM
 * and two dependencies, {@code mortise-spring-boot-starter} and {@code mortise-redis}.
 */
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

  @Test
  void givenTwoDependencies_whenApplicationRuns_thenItsMethodIsLockedInTheStoreOfItsYaml()
      throws Exception {
    assertThat(SOURCE.lines().filter(NewUserIT::isOwn).count()).isLessThan(15);
    String classPath = Files.readString(Path.of(System.getProperty("mortise.new-user"))).strip();
    assertThat(classPath).doesNotContain("lettuce").doesNotContain("micrometer-core");
    compile(SOURCE, classPath);
    try (RedisServer redis =
        RedisServer.start(TestPrerequisites.required(RedisServer.bundled(), "Redis"))) {
      Files.writeString(
          folder.resolve("application.yaml"),
          """
          spring.application.name: shop
          mortise:
            url: %s
          """
              .formatted(redis.url()));
      assertThat(run(classPath)).containsPattern("token [1-9][0-9]*").contains("Started Shop");
      try (LockClient client = LockClient.connect(redis.url())) {
        assertThat(client.admin().find("invoice/42")).as("the lock, used lately").isPresent();
      }
    }
  }

  /** Neither blank nor an import nor a brace that closes. */
  private static boolean isOwn(String line) {
    return !line.isBlank() && !line.startsWith("import") && !line.strip().equals("}");
  }

  private void compile(String source, String classPath) throws Exception {
    Path file = Files.writeString(folder.resolve("Shop.java"), source);
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StringWriter messages = new StringWriter();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
      boolean compiled =
          compiler
              .getTask(
                  messages,
                  files,
                  null,
                  List.of("-parameters", "-proc:none", "-cp", classPath, "-d", folder.toString()),
                  null,
                  files.getJavaFileObjects(file))
              .call();
      assertThat(compiled).as(messages.toString()).isTrue();
    }
  }

  private String run(String classPath) throws Exception {
    Path output = folder.resolve("output");
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                folder + File.pathSeparator + classPath,
                "shop.Shop")
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).as("the application ends").isTrue();
    } finally {
      process.destroyForcibly();
    }
    String said = Files.readString(output);
    assertThat(process.exitValue()).as(said).isZero();
    return said;
  }
}
