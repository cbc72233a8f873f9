package io.mortise.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.LockClient;
import io.mortise.testkit.BoundedWait;
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

  @Test
  void givenKilledTick_whenEachTickIsANewProcessThatTriesOnce_thenOneOfThemRuns() throws Exception {
    String url = TestStore.ETCD.newUrl();
    CliProcess killed = tool(url, "run", "--ttl", "2s", "job", "--", "sleep", "60");
    awaitHolder(url);
    killed.close();
    int ran = 0;
    long end = System.nanoTime() + Duration.ofSeconds(60).toNanos();
    while (ran == 0 && System.nanoTime() - end < 0) {
      try (CliProcess first = tool(url, "run", "--wait", "0", "job", "--", "sleep", "10");
          CliProcess second = tool(url, "run", "--wait", "0", "job", "--", "sleep", "10")) {
        ran += first.status() == 0 ? 1 : 0;
        ran += second.status() == 0 ? 1 : 0;
      }
    }
    assertThat(ran).isOne();
  }

  private void awaitHolder(String url) {
    BoundedWait.until(
        Duration.ofSeconds(30),
        "the lock was held",
        () -> {
          try (LockClient client = LockClient.connect(url)) {
            return client.admin().find("job").stream().anyMatch(lock -> !lock.holders().isEmpty());
          }
        });
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
