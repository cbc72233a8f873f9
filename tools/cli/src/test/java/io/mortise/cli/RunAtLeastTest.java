package io.mortise.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.testserver.TestStore;
import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Cron on a store without a clock: each tick is a new process, which has seen nothing before. */
@Tag("extended")
class RunAtLeastTest {
  @TempDir private Path folder;

  @Test
  void givenAtLeastTime_whenEachTickIsANewProcess_thenItEndsNoSooner_andTheNextTickRuns()
      throws Exception {
    String url = TestStore.ETCD.newUrl();
    for (int tick = 0; tick < 2; tick++) {
      long began = System.nanoTime();
      try (CliProcess run =
          tool(url, "run", "--at-least", "3s", "--wait", "0", "job", "--", "true")) {
        assertThat(run.status()).as(run.err()).isZero();
        assertThat(Duration.ofNanos(System.nanoTime() - began))
            .isGreaterThanOrEqualTo(Duration.ofSeconds(3));
      }
    }
    try (CliProcess show = tool(url, "ls")) {
      assertThat(show.status()).isZero();
      assertThat(show.out()).doesNotContain("shut");
    }
  }

  private CliProcess tool(String url, String... args) throws IOException {
    return CliProcess.start(
        folder,
        Main.class,
        Map.of("MORTISE_STORE", url, "TMPDIR", folder.toString()),
        Redirect.from(new File("/dev/null")),
        args);
  }
}
