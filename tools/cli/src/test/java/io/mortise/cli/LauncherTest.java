package io.mortise.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The script {@code mortise} of the checkout, with a finished build, and a Java that only reports
 * its environment.
 */
@EnabledOnOs(value = OS.LINUX, disabledReason = "looks into /proc")
class LauncherTest {
  @TempDir private Path root;

  private Path seen;

  @BeforeEach
  void makeCheckout() throws Exception {
    seen = root.resolve("seen");
    Files.copy(Path.of("../../mortise"), root.resolve("mortise"));
    assertThat(root.resolve("mortise").toFile().setExecutable(true)).isTrue();
    Files.createFile(root.resolve("pom.xml"));
    Path java = Files.createDirectories(root.resolve("jdk/bin")).resolve("java");
    Files.writeString(root.resolve("jdk/release"), "JAVA_VERSION=\"17.0.1\"\n");
    Files.writeString(
        java,
        """
        #!/bin/sh
        for stream in 0 1 2; do
          (readlink "/proc/$$/fd/$stream" >>%s)
        done
        echo "$@" >%s
        """
            .formatted(seen, root.resolve("arguments")));
    assertThat(java.toFile().setExecutable(true)).isTrue();
    Files.createDirectories(root.resolve("target/mortise/app-1"));
    Files.writeString(root.resolve("target/mortise/current"), "app-1\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"<&-", ">&-", "2>&-", "<&- >&-", "<&- 2>&-", "<&- >&- 2>&-"})
  void givenClosedStreams_whenToolStarts_thenTheyAreOpenOnDevNull(String closed) throws Exception {
    String log = root.resolve("log").toString();
    assertThat(launch("exec ./mortise --version </dev/zero >>" + log + " 2>>" + log + " " + closed))
        .isZero();
    assertThat(Files.readString(seen))
        .isEqualTo(
            "%s\n%s\n%s\n"
                .formatted(
                    closed.contains("<&-") ? "/dev/null" : "/dev/zero",
                    closed.matches("(.* )?>&-.*") ? "/dev/null" : log,
                    closed.contains("2>&-") ? "/dev/null" : log));
    assertThat(root.resolve("log"))
        .satisfiesAnyOf(
            file -> assertThat(file).doesNotExist(), file -> assertThat(file).isEmptyFile());
  }

  @Test
  void givenUnpackedLibraryOfSqlite_whenToolStarts_thenTheDriverIsToldOfIt() throws Exception {
    String option = "-Dorg.sqlite.lib.path=";
    assertThat(launch("exec ./mortise ls")).isZero();
    assertThat(root.resolve("arguments")).content().doesNotContain(option).endsWith(" ls\n");
    Path unpacked = Files.createDirectory(root.resolve("target/mortise/app-1/native"));
    assertThat(launch("exec ./mortise ls")).isZero();
    assertThat(root.resolve("arguments")).content().contains(option + unpacked).endsWith(" ls\n");
  }

  @Test
  void givenSourcesThatChange_thenTheLastBuildIsUsed_unlessANewOneIsAskedFor() throws Exception {
    Files.setLastModifiedTime(root.resolve("pom.xml"), FileTime.from(Instant.now().plusSeconds(9)));
    assertThat(said("exec ./mortise ls"))
        .isEqualTo(
            "mortise: sources have changed since this build of the tool. MORTISE_BUILD=yes builds anew.\n");
    assertThat(root.resolve("arguments")).content().endsWith("app-1/mortise-cli.jar ls\n");
    assertThat(said("MORTISE_BUILD=no exec ./mortise ls")).isEmpty();

    // After a broken edit the build fails, but the former tool stays.
    Files.copy(root.resolve("jdk/bin/java"), root.resolve("jdk/bin/javac"));
    Path maven = root.resolve("mvnw");
    Files.writeString(maven, "#!/bin/sh\necho '[ERROR] broken edit'\nexit 1\n");
    assertThat(maven.toFile().setExecutable(true)).isTrue();
    Files.delete(root.resolve("arguments"));
    assertThat(said("MORTISE_BUILD=yes exec ./mortise ls"))
        .contains("the build failed: broken edit")
        .contains("Without MORTISE_BUILD=yes the last build is used");
    assertThat(root.resolve("arguments")).doesNotExist();
    assertThat(said("MORTISE_BUILD=no exec ./mortise ls")).isEmpty();
    assertThat(root.resolve("arguments")).content().endsWith("app-1/mortise-cli.jar ls\n");
  }

  @ParameterizedTest
  @CsvSource({"core,true", "stores/redis,true", "quality/bench,false", "examples/shop,false"})
  void givenSourceThatChanges_thenItIsNoticed_ifTheToolHasItsModule(String module, boolean noticed)
      throws Exception {
    Path sources = Files.createDirectories(root.resolve(module).resolve("src/main"));
    Path source = Files.createFile(sources.resolve("Source.java"));
    Files.setLastModifiedTime(source, FileTime.from(Instant.now().plusSeconds(9)));
    assertThat(said("exec ./mortise ls").contains("sources have changed")).isEqualTo(noticed);
  }

  private int launch(String script) throws IOException, InterruptedException {
    Process process = start(script);
    assertThat(new String(process.getInputStream().readAllBytes(), UTF_8)).isEmpty();
    return process.waitFor();
  }

  private String said(String script) throws IOException {
    return new String(start(script).getInputStream().readAllBytes(), UTF_8);
  }

  private Process start(String script) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder("sh", "-c", script)
            .directory(root.toFile())
            .redirectInput(Redirect.from(new File("/dev/null")))
            .redirectErrorStream(true);
    builder.environment().put("JAVA_HOME", root.resolve("jdk").toString());
    return builder.start();
  }
}
