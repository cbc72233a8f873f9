package io.mortise.field;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.LocalServer;
import io.mortise.testserver.PostgresServer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A database whose connections are used up by other clients. */
@Tag("long")
class ConnectionsLeftTest {
  private static final Duration TTL = Duration.ofSeconds(6);

  @Test
  @Report({
    "zammad/zammad-helm#52",
    "sorintlab/stolon#691",
    "timescale/prometheus-postgresql-adapter#91",
  })
  void givenOneConnectionLeft_thenItIsTheRenewals_andTheLeaseIsKept() throws Exception {
    LocalServer server = FieldStore.POSTGRESQL.start();
    try (server) {
      Trial.execute(server.url(), "CREATE ROLE locks LOGIN PASSWORD 'few' CONNECTION LIMIT 3");
      Trial.execute(server.url(), "GRANT CREATE, USAGE ON SCHEMA public TO locks");
      String url =
          server
              .url()
              .replace("user=" + PostgresServer.USER, "user=locks")
              .replace("password=" + PostgresServer.PASSWORD, "password=few");
      try (LockClient client = LockClient.builder().url(url).ttl(TTL).build();
          LockClient other = LockClient.connect(server.url())) {
        Lease lease = client.lock("held").tryAcquire().orElseThrow();
        Lease foreign = other.lock("awaited").tryAcquire().orElseThrow();
        CompletableFuture<Lease> waiter = client.lock("awaited").acquireAsync();
        Trial.execute(server.url(), "ALTER ROLE locks CONNECTION LIMIT 1");
        Trial.execute(
            server.url(),
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'locks'");
        long end = System.nanoTime() + TTL.multipliedBy(2).toNanos();
        while (System.nanoTime() < end) {
          // Requests continue, and need a connection.
          assertThat(lease.state()).isNotEqualTo(Lease.State.LOST);
          CompletableFuture<Lease> other1 =
              client.lock("more").acquireAsync(Duration.ofMillis(100));
          BoundedWait.until(TTL, "a try ends", other1::isDone);
        }
        assertThat(lease.state()).isNotEqualTo(Lease.State.LOST);
        Trial.execute(server.url(), "ALTER ROLE locks CONNECTION LIMIT 3");
        foreign.close();
        BoundedWait.join(waiter).close();
        lease.close();
      }
    }
  }
}
