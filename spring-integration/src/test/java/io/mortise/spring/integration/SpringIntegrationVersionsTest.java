package io.mortise.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;

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
 * A registry as a bean of Spring Integration's other lines, each in a JVM of its own; the module is
 * compiled with one of the lines between.
 */
class SpringIntegrationVersionsTest {
  @ParameterizedTest
  @CsvSource({"boot-3.5, 6.5.10, 6.2.19", "boot-4.1, 7.1.2, 7.0.10"})
  void givenSpringIntegrationOfSpringBoot_thenTheRegistryIsABeanOfIt(
      String folder, String integration, String spring) throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                classPath(Path.of(System.getProperty("mortise.versions", "target"), folder)),
                RegistrySmokeMain.class.getName())
            .redirectErrorStream(true)
            .start();
    try {
      process.getOutputStream().close();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(process.waitFor()).as(output).isZero();
      assertThat(output)
          .contains(
              "spring-integration-core-" + integration + ".jar",
              "spring=" + spring,
              RegistrySmokeMain.DONE);
    } finally {
      process.destroyForcibly();
    }
  }

  /** That of this JVM, with the artifacts of the folder in place of the other versions of them. */
  private static String classPath(Path folder) throws IOException {
    List<Path> path = new ArrayList<>();
    try (Stream<Path> jars = Files.list(folder)) {
      path.addAll(jars.toList());
    }
    Set<String> replaced =
        path.stream().map(SpringIntegrationVersionsTest::library).collect(Collectors.toSet());
    for (String entry :
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"))
            .split(File.pathSeparator, -1)) {
      if (!replaced.contains(library(Path.of(entry)))) {
        path.add(Path.of(entry));
      }
    }
    return path.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
  }

  private static String library(Path jar) {
    return jar.getFileName().toString().replaceFirst("-[0-9].*", "");
  }
}
