package io.mortise.jdbc.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.jdbc.DatabaseProduct;
import io.mortise.jdbc.JdbcStore;
import io.mortise.jdbc.TestSession;
import io.mortise.spi.LockStore;
import io.mortise.spi.Renewal;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testkit.TestPrerequisites;
import io.mortise.testkit.server.LocalServer;
import io.mortise.testserver.FakeClock;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * Locks when the clock of the database is set. A subclass says which database, and is {@link
 * RerunIfPaused}.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class ServerClockSuite {
  static final Duration TTL = Duration.ofSeconds(2);
  static final Duration LONG = Duration.ofSeconds(20);
  static final Duration HOUR = Duration.ofHours(1);

  private final DatabaseProduct product;
  private FakeClock clock;
  private LocalServer server;

  ServerClockSuite(DatabaseProduct product) {
    this.product = product;
  }

  @BeforeAll
  void start() throws SQLException {
    clock = TestPrerequisites.required(FakeClock.installed(), "libfaketime");
    server = product.start(clock);
    // Under such a clock a server needs its time for the first one, on a busy machine too much.
    DriverManager.getConnection(server.url()).close();
  }

  @AfterAll
  void stop() {
    if (server != null) {
      server.close();
    }
    if (clock != null) {
      clock.close();
    }
  }

  @BeforeEach
  void setRight() {
    set(Duration.ZERO);
  }

  LocalServer server() {
    return server;
  }

  String url() {
    return server.url();
  }

  /** Has the database's clock show the right time plus this. */
  void set(Duration offset) {
    clock.set(offset);
  }

  /** Longer where servers under such a clock are slow. */
  Duration ttl() {
    return TTL;
  }

  LockClient client() {
    return LockClient.builder().url(url()).ttl(ttl()).build();
  }

  @Test
  void givenHolders_whenTheClockIsSetBackByAnHour_thenTheDeadOneIsFollowedSoon_theLiveOneHoldsOn()
      throws Exception {
    try (LockStore crashed = JdbcStore.open(url());
        LockClient holder = client();
        LockClient other = client()) {
      TestSession dead = new TestSession(crashed, ttl());
      long died = dead.granted("dies", dead.attempt()).token();
      long lives;
      try (Lease lease = holder.lock("lives").acquire()) {
        lives = lease.token();
        set(HOUR.negated());
        // A name that is new begins at the clock. Without a remedy the dead would live for an hour.
        try (Lease fresh = other.lock("fresh" + System.nanoTime()).acquireWithin(LONG)) {
          assertThat(fresh.token()).isLessThan(died - HOUR.toMillis() * 500);
        }

        try (Lease next = other.lock("dies").acquireWithin(ttl().multipliedBy(4))) {
          assertThat(next.token()).isGreaterThan(died);
        }
        assertThat(other.lock("lives").tryAcquire(ttl())).isEmpty();
        lease.ensureValid();
      }
      try (Lease next = other.lock("lives").acquireWithin(LONG)) {
        assertThat(next.token()).isGreaterThan(lives);
      }
    }
  }

  @Test
  void givenLiveHolder_whenTheClockIsSetForward_thenAnotherMayHoldToo_butTheFirstIsToldAndFenced()
      throws Exception {
    try (LockStore paused = JdbcStore.open(url());
        LockClient other = client()) {
      // Its next renewal is not due yet: as far as it can know it holds for a TTL.
      TestSession first = new TestSession(paused, ttl());
      long token = first.granted("forward", first.attempt()).token();
      set(HOUR);
      try (Lease second = other.lock("forward").acquireWithin(LONG)) {
        assertThat(second.token()).isGreaterThan(token);
        assertThat(first.renew()).isInstanceOf(Renewal.Lost.class);
      }
    }
  }
}
