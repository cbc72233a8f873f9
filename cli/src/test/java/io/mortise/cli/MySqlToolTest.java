package io.mortise.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.testkit.server.MySqlServer;
import java.io.File;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The tool brings MariaDB's driver only, and MySQL is used by it. */
class MySqlToolTest {
  @TempDir Path folder;

  @Test
  void givenMySqlAndNoDriverOfItsOwn_whenCommandIsRun_thenItGetsTheLock() throws Exception {
    Optional<Path> home = MySqlServer.bundled();
    if (home.isEmpty() && Boolean.getBoolean("mortise.ci")) {
      throw new IllegalStateException("There is no MySQL server for this machine.");
    }
    Assumptions.assumeTrue(home.isPresent(), "no MySQL server for this machine");
    try (MySqlServer server = MySqlServer.start(home.get());
        ToolProcess tool =
            ToolProcess.start(
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
