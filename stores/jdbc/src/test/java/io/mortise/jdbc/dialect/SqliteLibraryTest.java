package io.mortise.jdbc.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.LockException;
import io.mortise.jdbc.JdbcStore;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The native library of the driver, which is loaded once in a process. */
@EnabledOnOs(OS.LINUX)
class SqliteLibraryTest {
  @TempDir Path folder;

  @Test
  void givenFolderThatTakesNoLibrary_whenOpened_thenItIsUnfit_andTheSettingIsNamed()
      throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-Dorg.sqlite.tmpdir=/proc",
                "-cp",
                System.getProperty("java.class.path"),
                Opening.class.getName(),
                "jdbc:sqlite:" + folder.resolve("locks.db"))
            .redirectErrorStream(true)
            .start();
    try {
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
      assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
          .contains("StoreUnfitException", "native library in '/proc'", "-Dorg.sqlite.tmpdir");
    } finally {
      process.destroyForcibly();
    }
  }

  /** A process of its own. */
  static final class Opening {
    public static void main(String[] arguments) {
      try {
        JdbcStore.open(arguments[0]).close();
      } catch (LockException e) {
        System.out.println(e);
      }
    }
  }
}
