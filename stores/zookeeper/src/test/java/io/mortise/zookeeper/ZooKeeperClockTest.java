package io.mortise.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testkit.TestPrerequisites;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testserver.FakeClock;
import io.mortise.testserver.ZooKeeperServer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Setting the server's time of day does not affect locks. */
@RerunIfPaused
class ZooKeeperClockTest {
  private static final Duration TTL = Duration.ofSeconds(2);
  private static final Duration LONG = Duration.ofSeconds(40);
  private static final Duration HOUR = Duration.ofHours(1);

  private static FakeClock clock;
  private static ZooKeeperServer server;

  @BeforeAll
  static void start() {
    // A server that read the file at each time request would be late with everything.
    clock = TestPrerequisites.required(FakeClock.late(Duration.ofSeconds(1)), "libfaketime");
    server = ZooKeeperServer.start(TestServer.setup(), clock);
  }

  @AfterAll
  static void stop() {
    if (server != null) {
      server.close();
    }
    if (clock != null) {
      clock.close();
    }
  }

  @BeforeEach
  void setRight() {
    clock.set(Duration.ZERO);
  }

  private static LockClient client(int port, Duration ttl) {
    return LockClient.builder()
        .url(Scheme.ZK.url("127.0.0.1:" + port, "/clock") + "&timeout=5s")
        .ttl(ttl)
        .build();
  }

  @Test
  void givenHolder_whenTheClockIsSet_thenItHoldsOn_andOnceItIsSilentTheLockIsFree()
      throws Exception {
    try (FaultInjectionProxy faultInjectionProxy = FaultInjectionProxy.to(server.port());
        LockClient holder = client(faultInjectionProxy.port(), TTL);
        LockClient other = client(server.port(), LONG)) {
      for (Duration jump : List.of(HOUR, HOUR.negated())) {
        Lease lease = holder.lock("x").acquireWithin(LONG);
        long token = lease.token();
        clock.set(jump);
        assertThat(other.lock("x").tryAcquire(TTL.plus(TTL.dividedBy(2)))).isEmpty();
        lease.ensureValid();
        faultInjectionProxy.condition(FaultInjectionProxy.NetworkCondition.FROZEN);
        try (Lease next = other.lock("x").acquireWithin(LONG)) {
          assertThat(next.token()).isGreaterThan(token);
          assertThat(lease.isValid()).isFalse();
        }
        faultInjectionProxy.condition(FaultInjectionProxy.NetworkCondition.FAIR);
      }
    }
  }
}
