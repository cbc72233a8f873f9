package io.mortise.nats;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.testkit.server.LossyDisk;
import io.mortise.testserver.NatsServer;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A server that finds on its disk what was forced to it, and nothing else. */
@Tag("extended")
class NatsPowerLossTest {
  private static final Duration LONG = Duration.ofSeconds(60);

  private static LockClient client(NatsServer server) {
    return LockClient.builder().url(server.url()).ttl(Duration.ofMinutes(2)).build();
  }

  @Test
  void givenHolders_whenThePowerFails_thenALockOfTheLastMomentIsGrantedAgain_andAnEarlierOneIsNot()
      throws Exception {
    Optional<LossyDisk> mounted = LossyDisk.mount();
    Assumptions.assumeTrue(mounted.isPresent(), "SKIPPED: it needs root that may mount a disk.");
    try (LossyDisk disk = mounted.orElseThrow();
        NatsServer server = NatsServers.start("-sd", disk.folder().resolve("nats").toString());
        LockClient holder = client(server);
        LockClient other = client(server)) {
      Lease early = holder.lock("early").acquireWithin(LONG);
      disk.settle();
      Lease late = holder.lock("late").acquireWithin(LONG);
      assertThat(other.lock("late").tryAcquire()).isEmpty();
      disk.cutPower(server, () -> {});
      try (Lease second = other.lock("late").acquireWithin(LONG)) {
        assertThat(second.isValid()).isTrue();
        assertThat(late.isValid()).as("two believe").isTrue();
      }
      assertThat(other.lock("early").tryAcquire()).isEmpty();
      assertThat(early.isValid()).isTrue();
    }
  }
}
