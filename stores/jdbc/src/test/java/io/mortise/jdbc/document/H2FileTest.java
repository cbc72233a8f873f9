package io.mortise.jdbc.document;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.jdbc.LockProcess;
import io.mortise.jdbc.PowerLossDisks;
import io.mortise.testkit.server.LossyDisk;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A process that has an H2 file open, alone, and ends without a word. */
@Timeout(200)
@Tag("extended")
class H2FileTest {
  private static final Duration TTL = Duration.ofSeconds(2);
  private static final Duration LONG = Duration.ofSeconds(40);

  @TempDir Path directory;

  private static String url(Path folder) {
    return "jdbc:h2:" + folder.resolve("locks");
  }

  @Test
  void
      givenProcessThatHasTheFileOpen_whenItIsKilled_thenNobodyHeldBesideIt_andTheNextTokenIsGreater()
          throws Exception {
    String url = url(directory);
    try (LockProcess child = LockProcess.start("hold", url, TTL)) {
      long token = Long.parseLong(child.line());
      checkAlone(url);
      child.kill();
      checkNext(url, token);
    }
  }

  @Test
  void givenProcessThatHasTheFileOpen_whenThePowerIsCut_thenTheNextTokenIsGreater()
      throws Exception {
    try (LossyDisk disk = PowerLossDisks.lossy()) {
      String url = url(disk.folder());
      LockClient.connect(url).close();
      disk.settle();
      try (LockProcess child = LockProcess.start("hold", url, TTL)) {
        long token = Long.parseLong(child.line());
        checkAlone(url);
        disk.cutPower(child::pause, child::kill);
        checkNext(url, token);
      }
    }
  }

  @Test
  void givenAutoServer_whenTheProcessThatServesIsKilled_thenAnotherServes_andTheNextTokenIsGreater()
      throws Exception {
    String url = url(directory) + ";AUTO_SERVER=TRUE";
    // H2 writes half a second later, so a process that is killed may leave no tables of its own.
    LockClient.connect(url).close();
    try (LockProcess child = LockProcess.start("hold", url, TTL)) {
      long token = Long.parseLong(child.line());
      try (LockClient next = LockClient.connect(url)) {
        assertThat(next.lock("held").tryAcquire()).isEmpty();
        child.kill();
        try (Lease lease = next.lock("held").acquireWithin(LONG)) {
          assertThat(lease.token()).isGreaterThan(token);
          lease.ensureValid();
        }
      }
    }
  }

  private static void checkAlone(String url) {
    assertThatThrownBy(() -> LockClient.connect(url))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("already in use");
  }

  private static void checkNext(String url, long token) throws Exception {
    try (LockClient next = LockClient.connect(url);
        Lease lease = next.lock("held").acquireWithin(LONG)) {
      assertThat(lease.token()).isGreaterThan(token);
    }
  }
}
