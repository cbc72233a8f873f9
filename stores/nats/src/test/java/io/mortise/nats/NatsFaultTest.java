package io.mortise.nats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testkit.contract.document.ClocklessFaultContract;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testkit.server.FaultInjectionProxy.NetworkCondition;
import io.mortise.testserver.NatsServer;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Locks on a server that dies, stands still, or loses its data. */
@Tag("extended")
class NatsFaultTest extends ClocklessFaultContract<NatsServer> {
  private static final Duration LONG = Duration.ofSeconds(60);

  @Override
  protected NatsServer start() {
    return NatsServers.start();
  }

  @Test
  void givenHolder_whenItsKeysArePurged_thenTheNextTokenIsGreater_unlessTheBucketIsDeletedToo()
      throws Exception {
    String bucket = "KV_mortise-" + namespace();
    try (LockClient holder = client(LONG);
        LockClient other = client(LONG);
        NatsOperator operator = NatsOperator.of(server())) {
      Lease lease = holder.lock("x").acquireWithin(LONG);
      operator.streams().purgeStream(bucket);
      try (Lease next = other.lock("x").acquireWithin(LONG)) {
        assertThat(next.token()).isGreaterThan(lease.token());
        operator.streams().deleteStream(bucket);
        try (LockClient third = client(LONG);
            Lease last = third.lock("x").acquireWithin(LONG)) {
          assertThat(last.token()).isLessThan(next.token());
        }
      }
    }
  }

  @Test
  @RerunIfPaused
  void givenConnectionThatFallsSilent_thenItsHolderLosesTheLease_andLocksAgainWhenItIsBack()
      throws Exception {
    try (FaultInjectionProxy way = FaultInjectionProxy.to(server().port());
        LockClient holder = client("nats://127.0.0.1:" + way.port(), Duration.ofSeconds(3));
        LockClient other = client(Duration.ofSeconds(3))) {
      Lease lease = holder.lock("x").acquireWithin(LONG);
      long token = lease.token();
      way.condition(NetworkCondition.FROZEN);
      try (Lease next = other.lock("x").acquireWithin(LONG)) {
        assertThat(lease.isValid()).isFalse();
        assertThat(next.token()).isGreaterThan(token);
        assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
      }
      way.condition(NetworkCondition.FAIR);
      try (Lease again = holder.lock("x").acquireWithin(LONG)) {
        again.ensureValid();
      }
    }
  }
}
