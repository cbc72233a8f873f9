package io.mortise.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.testkit.TestPrerequisites;
import io.mortise.testserver.MySqlServer;
import java.io.File;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The tool contains MariaDB's driver only, which serves MySQL too. */
@Tag("extended")
class MySqlCliTest {
  @TempDir Path folder;

  @Test
  void givenMySqlAndNoDriverOfItsOwn_whenCommandIsRun_thenItGetsTheLock() throws Exception {
    try (MySqlServer server =
            MySqlServer.start(
                TestPrerequisites.required(MySqlServer.bundled(), "The MySQL server"));
        CliProcess tool =
            CliProcess.start(
                folder,
                Main.class,
                Map.of("MORTISE_STORE", server.url() + "&allowPublicKeyRetrieval=true"),
                Redirect.from(new File("/dev/null")),
                "run",
                "-q",
                "job",
                "--",
                "sh",
                "-c",
                "echo $MORTISE_TOKEN")) {
      assertThat(tool.status()).as(tool.err()).isZero();
      assertThat(tool.out().strip()).matches("\\d{16}");
      assertThat(tool.err()).isEmpty();
    }
  }
}
