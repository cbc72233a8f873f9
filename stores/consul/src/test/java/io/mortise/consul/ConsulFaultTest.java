package io.mortise.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.testkit.contract.document.ClocklessFaultContract;
import io.mortise.testserver.ConsulServer;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Locks on a server that dies, stands still, or loses its data. */
@Tag("extended")
class ConsulFaultTest extends ClocklessFaultContract<ConsulServer> {
  private static final Duration LONG = Duration.ofSeconds(60);

  /** All clients have one address here, from which Consul takes 200 connections. */
  @Override
  protected ConsulServer start() {
    return ConsulServers.start("-hcl", "limits={http_max_conns_per_client=2000}");
  }

  @Test
  void givenHolder_whenItsEntryIsDeleted_thenTheNextTokenIsGreater() throws Exception {
    try (LockClient holder = client(LONG);
        LockClient other = client(LONG)) {
      Lease lease = holder.lock("x").acquireWithin(LONG);
      server().send("DELETE", "/v1/kv/mortise-" + namespace() + "/?recurse", "");
      try (Lease next = other.lock("x").acquireWithin(LONG)) {
        assertThat(next.token()).isGreaterThan(lease.token());
      }
    }
  }
}
