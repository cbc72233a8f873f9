package io.mortise.jdbc.dialect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockException;
import io.mortise.StoreUnavailableException;
import io.mortise.jdbc.DatabaseProduct;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A primary whose commits wait until a standby has them. */
@Timeout(200)
@Tag("extended")
class PostgresSynchronousReplicationTest {
  private static final Duration TTL = Duration.ofSeconds(60);
  private static final Duration LONG = Duration.ofSeconds(60);

  private ReplicaPair pair;

  @BeforeEach
  void start() throws SQLException {
    pair = ReplicaPair.start(DatabaseProduct.POSTGRESQL);
    ReplicaPair.execute(
        pair.primary.url(),
        "ALTER SYSTEM SET synchronous_standby_names = '*'",
        "SELECT pg_reload_conf()");
    awaitStandby();
  }

  @AfterEach
  void end() {
    if (pair != null) {
      pair.close();
    }
  }

  private void awaitStandby() {
    Awaitility.await()
        .atMost(LONG)
        .ignoreExceptions()
        .until(
            () ->
                ReplicaPair.one(pair.primary.url(), "SELECT sync_state FROM pg_stat_replication")
                    .equals("sync"));
  }

  private LockClient client(Duration ttl) {
    return LockClient.builder().url(pair.url() + "&max-in-flight=4s").ttl(ttl).build();
  }

  @Test
  void givenHolder_whenTheStandbyTakesOver_thenItHoldsOnThere_andTokensRise() throws Exception {
    try (LockClient holder = client(TTL);
        LockClient other = client(TTL)) {
      Lease lease = holder.lock("a").acquire();
      pair.failOver();
      checkKept(lease, other);
    }
  }

  @Test
  void givenHolder_whenThePrimaryIsKilledAndComesBack_thenItHoldsOn_andTokensRise()
      throws Exception {
    try (LockClient holder = client(TTL);
        LockClient other = client(TTL)) {
      Lease lease = holder.lock("a").acquire();
      pair.primary.kill();
      // The last child may outlive its parent for a moment, and no server starts beside it.
      Awaitility.await()
          .atMost(LONG)
          .ignoreExceptionsInstanceOf(IllegalStateException.class)
          .untilAsserted(pair.primary::restart);
      checkKept(lease, other);
    }
  }

  private static void checkKept(Lease lease, LockClient other) throws Exception {
    Optional<Lease> second =
        Awaitility.await()
            .atMost(LONG)
            .ignoreExceptionsInstanceOf(LockException.class)
            .until(() -> other.lock(lease.name()).tryAcquire(), unused -> true);
    assertThat(second).isEmpty();
    lease.ensureValid();
    long token = lease.token();
    lease.close();
    try (Lease next = other.lock(lease.name()).acquireWithin(LONG)) {
      assertThat(next.token()).isGreaterThan(token);
    }
  }

  @Test
  void givenPrimaryThatIsCutOffFromItsStandby_whenAsked_thenItGrantsNothingUntilTheyMeetAgain()
      throws Exception {
    try (LockClient holder = client(Duration.ofSeconds(3));
        LockClient other = client(TTL)) {
      Lease lease = holder.lock("held").acquire();
      long token = lease.token();
      other.lock("free").acquire().close();
      CountDownLatch lost = new CountDownLatch(1);
      lease.onLost(loss -> lost.countDown());

      pair.disconnect();
      assertThatThrownBy(() -> other.lock("free").tryAcquire())
          .isInstanceOf(StoreUnavailableException.class);
      assertThat(lost.await(20, TimeUnit.SECONDS)).as("told at its own deadline").isTrue();

      pair.reconnect();
      awaitStandby();
      other.lock("free").acquireWithin(LONG).close();
      try (Lease next = other.lock("held").acquireWithin(LONG)) {
        assertThat(next.token()).isGreaterThan(token);
      }
    }
  }
}
