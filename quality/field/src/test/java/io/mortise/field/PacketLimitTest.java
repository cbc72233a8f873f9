package io.mortise.field;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.admin.LockQuery;
import io.mortise.testkit.BoundedWait;
import io.mortise.testserver.ZooKeeperServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Data larger than the limit of a ZooKeeper packet. */
@Tag("extended")
class PacketLimitTest {
  private static final String PROPERTY = "jute.maxbuffer";
  private static final String LIMIT = "65536";

  private static ZooKeeperServer.Setup setup() {
    return ZooKeeperServer.Setup.single()
        .with("tickTime", "100")
        .with("maxSessionTimeout", "120000")
        .withProperty("zookeeper.forceSync", "no");
  }

  private static LockClient client(ZooKeeperServer server) {
    return LockClient.builder()
        .url(server.url() + "?timeout=20s&tick=100ms")
        .ttl(Duration.ofMinutes(1))
        .build();
  }

  private static List<Lease> take(LockClient client, int number, String suffix) {
    List<CompletableFuture<Lease>> asked = new ArrayList<>();
    for (int i = 0; i < number; i++) {
      asked.add(client.lock("n" + i + suffix).acquireAsync());
    }
    return asked.stream().map(BoundedWait::join).toList();
  }

  @Test
  @Report({"apache/helix#962", "apache/pulsar#22373"})
  void givenServerWithALowLimit_whenManyLocksAreTakenAtOnce_thenTheConnectionStands() {
    try (ZooKeeperServer server = ZooKeeperServer.start(setup().withProperty(PROPERTY, LIMIT));
        LockClient client = client(server)) {
      Lease lease = BoundedWait.join(client.lock("held").acquireAsync());
      // Each byte of these names takes three in a path.
      List<Lease> taken = take(client, 256, "/".repeat(500));
      assertThat(taken).allMatch(Lease::isValid);
      assertThat(lease.isValid()).isTrue();
      taken.stream().map(Lease::releaseAsync).toList().forEach(BoundedWait::join);
      assertThat(lease.isValid()).isTrue();
    }
  }

  @Test
  @Report({"Netflix/curator#307", "Netflix/conductor-community#246"})
  void givenMoreNamesThanAPacketHolds_whenTheyAreListed_thenTheReasonIsTold_andLocksWork() {
    try (ZooKeeperServer server = ZooKeeperServer.start(setup());
        LockClient holder = client(server)) {
      assertThat(take(holder, 700, "x".repeat(100))).allMatch(Lease::isValid);
      assertThat(holder.admin().list(LockQuery.all().page(null, 10)).items()).hasSize(10);
      System.setProperty(PROPERTY, LIMIT);
      try (LockClient lister = client(server)) {
        Lease lease = BoundedWait.join(lister.lock("own").acquireAsync());
        assertThatThrownBy(() -> lister.admin().list(LockQuery.all().page(null, 10)))
            .isInstanceOf(StoreUnavailableException.class)
            .hasMessageContaining("701 nodes")
            .hasMessageContaining("-Djute.maxbuffer");
        assertThat(lease.isValid()).isTrue();
      } finally {
        System.clearProperty(PROPERTY);
      }
    }
  }
}
