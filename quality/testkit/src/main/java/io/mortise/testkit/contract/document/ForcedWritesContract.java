package io.mortise.testkit.contract.document;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.annotation.Beta;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.LocalServer;
import io.mortise.testkit.server.LossyDisk;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/**
 * A server that answers a write when it is on the disk. After a power loss it finds only forced
 * writes on its disk.
 */
@Beta
public abstract class ForcedWritesContract {
  private static final Duration LONG = Duration.ofSeconds(60);

  /** For subclasses. */
  protected ForcedWritesContract() {}

  /** Starts a server that keeps its data in that folder. */
  protected abstract LocalServer start(Path data);

  private static LockClient client(LocalServer server) {
    return LockClient.builder().url(server.url()).ttl(Duration.ofSeconds(30)).build();
  }

  @Test
  void givenHolder_whenThePowerFails_thenItHolds_andTheNextTokenIsGreater() throws Exception {
    Optional<LossyDisk> mounted = LossyDisk.mount();
    Assumptions.assumeTrue(mounted.isPresent(), "SKIPPED: it needs root that may mount a disk.");
    try (LossyDisk disk = mounted.orElseThrow();
        LocalServer server = start(disk.folder().resolve("data"));
        LockClient holder = client(server);
        LockClient other = client(server)) {
      Lease early = holder.lock("early").acquireWithin(LONG);
      disk.settle();
      Lease late = holder.lock("late").acquireWithin(LONG);
      disk.cutPower(server, () -> {});
      BoundedWait.until(LONG, "it is there", () -> holder.admin().find("late").isPresent());
      assertThat(other.lock("early").tryAcquire()).isEmpty();
      assertThat(other.lock("late").tryAcquire()).isEmpty();
      early.ensureValid();
      long token = late.token();
      late.close();
      try (Lease next = other.lock("late").acquireWithin(LONG)) {
        assertThat(next.token()).isGreaterThan(token);
      }
      early.close();
    }
  }
}
