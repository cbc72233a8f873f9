package io.mortise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockException;
import io.mortise.testkit.server.PostgresServer;
import java.time.Duration;
import java.util.Optional;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** A server that is killed without a word, and comes back. */
class PostgresCrashTest {
  private static final Duration TTL = Duration.ofSeconds(60);

  @Test
  void givenHolder_whenTheServerIsKilledAndComesBack_thenItHoldsStill_andTokensRise()
      throws Exception {
    try (PostgresServer server = PostgresServers.V18.start();
        LockClient holder = client(server);
        LockClient other = client(server)) {
      Lease lease = holder.lock("a").acquire();
      // The rows of the session are some time old, that of the grant is not.
      Lease last = holder.lock("b").acquire();

      server.kill();
      server.restart();

      for (Lease held : new Lease[] {lease, last}) {
        Optional<Lease> second =
            Awaitility.await()
                .atMost(Duration.ofSeconds(40))
                .ignoreExceptionsInstanceOf(LockException.class)
                .until(() -> other.lock(held.name()).tryAcquire(), unused -> true);
        assertThat(second).as(held.name()).isEmpty();
        long token = held.token();
        held.close();
        try (Lease next =
            Awaitility.await()
                .atMost(Duration.ofSeconds(40))
                .until(() -> other.lock(held.name()).tryAcquire(), Optional::isPresent)
                .orElseThrow()) {
          assertThat(next.token()).isGreaterThan(token);
        }
      }
    }
  }

  private static LockClient client(PostgresServer server) {
    return LockClient.builder().url(server.url()).ttl(TTL).build();
  }
}
