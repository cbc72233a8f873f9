package io.mortise.redis.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.testkit.TestPrerequisites;
import io.mortise.testkit.server.RedisServer;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Locks over the versions of Lettuce that Spring Boot chooses for its users, each in a JVM of its
 * own; the module is compiled with a later one.
 */
class LettuceVersionsTest {
  @ParameterizedTest
  @CsvSource({"boot-3.5, 6.6.0, 4.1", "boot-4.0, 6.8.2, 4.2", "boot-4.1, 7.5.2, 4.2"})
  void givenLettuceOfSpringBoot_thenLocksAreTakenHandedOverAndReleased(
      String folder, String lettuce, String netty) throws Exception {
    try (RedisServer server =
        RedisServer.start(TestPrerequisites.required(RedisServer.bundled(), "The Redis server"))) {
      Process process =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-Xmx128m",
                  "-XX:TieredStopAtLevel=1",
                  "-XX:+UseSerialGC",
                  "-cp",
                  classPath(Path.of(System.getProperty("mortise.clients", "target"), folder)),
                  LettuceSmokeMain.class.getName(),
                  server.url())
              .redirectErrorStream(true)
              .start();
      try {
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        assertThat(output)
            .contains("lettuce=" + lettuce, "netty=" + netty + ".", LettuceSmokeMain.DONE);
      } finally {
        process.destroyForcibly();
      }
    }
  }

  /** That of this JVM, with the artifacts of the folder in place of the other versions of them. */
  private static String classPath(Path folder) throws IOException {
    List<Path> path = new ArrayList<>();
    try (Stream<Path> jars = Files.list(folder)) {
      path.addAll(jars.toList());
    }
    Set<String> replaced =
        path.stream().map(LettuceVersionsTest::library).collect(Collectors.toSet());
    for (String entry :
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"))
            .split(File.pathSeparator, -1)) {
      if (!replaced.contains(library(Path.of(entry)))) {
        path.add(Path.of(entry));
      }
    }
    return path.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
  }

  /** All of Netty counts as one: its artifacts go together. */
  private static String library(Path jar) {
    String name = jar.getFileName().toString().replaceFirst("-[0-9].*", "");
    return name.startsWith("netty-") ? "netty" : name;
  }
}
