package io.mortise.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.contract.document.ClocklessFaultContract;
import io.mortise.testserver.EtcdServer;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Locks on a server that dies, stands still, or loses its data. */
class EtcdFaultTest extends ClocklessFaultContract<EtcdServer> {
  private static final Duration LONG = Duration.ofSeconds(60);

  @Override
  protected EtcdServer start() {
    return EtcdServers.start();
  }

  @Test
  void givenHolder_whenItsKeyIsDeleted_thenTheNextTokenIsGreater() throws Exception {
    try (LockClient holder = client(LONG);
        LockClient other = client(LONG)) {
      Lease lease = holder.lock("x").acquireWithin(LONG);
      String from = JsonText.base64("/mortise/");
      server()
          .post(
              "/v3/kv/deleterange",
              "{\"key\":" + from + ",\"range_end\":" + JsonText.base64After("/mortise/") + "}");
      try (Lease next = other.lock("x").acquireWithin(LONG)) {
        assertThat(next.token()).isGreaterThan(lease.token());
      }
    }
  }

  /** A client that waits for the rest would never ask again: few requests are under way at once. */
  @Test
  void givenAnswersThatStallBehindTheirHeaders_thenEachIsGivenUp() throws Exception {
    try (StallingServer stalling = new StallingServer();
        EtcdGateway gateway =
            new EtcdGateway(
                EtcdTarget.parse(
                    StoreUrl.parse("etcd://127.0.0.1:" + stalling.port() + "?timeout=200ms")),
                "test",
                Ticker.SYSTEM)) {
      EtcdDocuments documents = new EtcdDocuments(gateway, "/mortise/", Ticker.SYSTEM);
      for (int i = 0; i < 5; i++) {
        String key = "lock/" + i;
        assertThatThrownBy(() -> BoundedWait.join(documents.read(key)))
            .hasCauseInstanceOf(StoreUnavailableException.class)
            .hasMessageContaining("did not answer within 400ms");
      }
    }
  }
}
