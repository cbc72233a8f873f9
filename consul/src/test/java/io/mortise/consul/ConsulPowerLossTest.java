package io.mortise.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.testkit.server.ConsulServer;
import io.mortise.testkit.server.LossyDisk;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** A server that finds on its disk what was forced to it, and nothing else. */
class ConsulPowerLossTest {
  private static final Duration LONG = Duration.ofSeconds(60);

  private static LockClient client(ConsulServer server) {
    return LockClient.builder().url(server.url()).ttl(Duration.ofSeconds(30)).build();
  }

  @Test
  void givenHolder_whenThePowerFails_thenItHolds_andTheNextTokenIsGreater() throws Exception {
    Optional<LossyDisk> mounted = LossyDisk.mount();
    Assumptions.assumeTrue(mounted.isPresent(), "SKIPPED: it needs root that may mount a disk.");
    try (LossyDisk disk = mounted.orElseThrow();
        ConsulServer server =
            ConsulServers.start("--data-dir", disk.folder().resolve("consul").toString());
        LockClient holder = client(server);
        LockClient other = client(server)) {
      Lease early = holder.lock("early").acquireWithin(LONG);
      disk.settle();
      Lease late = holder.lock("late").acquireWithin(LONG);
      disk.cutPower(server, () -> {});
      await().atMost(LONG).until(() -> holder.admin().find("late").isPresent());
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
