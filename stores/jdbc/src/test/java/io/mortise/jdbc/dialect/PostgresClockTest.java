package io.mortise.jdbc.dialect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.DistributedLock;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StoreUnfitException;
import io.mortise.jdbc.DatabaseProduct;
import io.mortise.jdbc.JdbcStore;
import io.mortise.jdbc.TestSession;
import io.mortise.spi.LockStore;
import io.mortise.spi.Renewal;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testserver.PostgresServer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** As on every database, and with strict expiry. */
@RerunIfPaused
@Tag("extended")
class PostgresClockTest extends ServerClockSuite implements RerunIfPaused.PauseSource {
  private int crashes;

  PostgresClockTest() {
    super(DatabaseProduct.POSTGRESQL);
  }

  private PostgresServer postgres() {
    return (PostgresServer) server();
  }

  /** It may wait for a time that it saw before the clock was set back. */
  @BeforeEach
  void begin() {
    if (postgres().crashes() > crashes) {
      postgres().kill();
      postgres().restart();
    }
    crashes = postgres().crashes();
  }

  /** A server that crashes under the library that sets its clock says nothing about locks. */
  @Override
  public long lostMillis() {
    return postgres().crashes() * 1000L;
  }

  @Test
  void givenHolder_whenTheClockIsSetForwardAndBack_thenLocksWorkAgainWithinTwoTtls() {
    try (LockClient client = client()) {
      DistributedLock lock = client.lock("to and fro");
      set(HOUR);
      Awaitility.await().atMost(TTL.multipliedBy(2)).until(() -> works(lock));
      set(Duration.ZERO);
      Awaitility.await().atMost(TTL.multipliedBy(2)).until(() -> works(lock));
    }
  }

  private static boolean works(DistributedLock lock) {
    Optional<Lease> lease = lock.tryAcquire();
    lease.ifPresent(Lease::close);
    return lease.isPresent();
  }

  private String strictUrl() {
    return url() + "&prefix=strictly&strict-expiry=true";
  }

  private LockClient strictClient() {
    return LockClient.builder().url(strictUrl()).ttl(TTL).build();
  }

  @Test
  void givenStrictExpiry_whenTheClockIsSetForwardAndBack_thenALiveHolderKeepsTheLock()
      throws Exception {
    try (LockClient holder = strictClient();
        LockClient other = strictClient();
        Lease lease = holder.lock("strict").acquire()) {
      for (Duration jump : List.of(HOUR, HOUR.negated())) {
        set(jump);
        assertThat(other.lock("strict").tryAcquire(TTL.plus(TTL.dividedBy(2)))).isEmpty();
        lease.ensureValid();
        holder.lock("another").acquireWithin(LONG).close();
      }
    }
  }

  @Test
  void givenStrictExpiry_whenAHolderDiesAndTheClockJumps_thenItsLockIsFreeAfterTwoTtls_notSooner()
      throws Exception {
    for (Duration jump : List.of(HOUR, HOUR.negated())) {
      set(Duration.ZERO);
      try (LockStore crashed = JdbcStore.open(strictUrl());
          LockClient other = strictClient()) {
        TestSession dead = new TestSession(crashed, TTL);
        dead.granted("dies", dead.attempt());
        set(jump);
        long began = System.nanoTime();
        try (Lease lease = other.lock("dies").acquireWithin(LONG)) {
          lease.ensureValid();
          assertThat(Duration.ofNanos(System.nanoTime() - began))
              .as("as long as it may believe")
              .isGreaterThanOrEqualTo(TTL);
        }
        assertThat(dead.renew()).isInstanceOf(Renewal.Lost.class);
      }
    }
  }

  @Test
  void givenTablesWithStrictExpiry_whenAClientWithoutItComes_thenItIsRefused() {
    strictClient().close();
    String url = strictUrl().replace("&strict-expiry=true", "");
    assertThatThrownBy(() -> JdbcStore.open(url))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("strict-expiry=true");
  }
}
