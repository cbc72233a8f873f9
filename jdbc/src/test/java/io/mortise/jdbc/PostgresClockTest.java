package io.mortise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.DistributedLock;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StoreUnfitException;
import io.mortise.spi.LockStore;
import io.mortise.testkit.Machine;
import io.mortise.testkit.Unpaused;
import io.mortise.testkit.server.FakeClock;
import io.mortise.testkit.server.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What becomes of locks when the clock of the database is set. */
@Unpaused
class PostgresClockTest implements Unpaused.Aware {
  private static final Duration TTL = Duration.ofSeconds(2);
  private static final Duration LONG = Duration.ofSeconds(20);
  private static final Duration HOUR = Duration.ofHours(1);

  private static FakeClock clock;
  private static PostgresServer server;
  private static int crashes;

  @BeforeAll
  static void start() {
    clock = Machine.required(FakeClock.installed(), "libfaketime");
    server = PostgresServers.V18.start(clock);
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
    // It may wait for a time that it saw before the clock was set back.
    if (server.crashes() > crashes) {
      server.kill();
      server.restart();
    }
    crashes = server.crashes();
  }

  /** A server that crashes under the library that sets its clock says nothing about locks. */
  @Override
  public long lostMillis() {
    return server.crashes() * 1000L;
  }

  private static LockClient client() {
    return LockClient.builder().url(server.url()).ttl(TTL).build();
  }

  @Test
  void givenDeadHolder_whenTheClockIsSetBackByAnHour_thenTheLockIsFreeSoonAfterItsTtl()
      throws Exception {
    try (LockStore crashed = JdbcStore.open(server.url());
        LockClient other = client()) {
      TestSession dead = new TestSession(crashed, TTL);
      long token = dead.granted("back", dead.attempt()).token();
      clock.set(HOUR.negated());
      // Without a remedy it would seem alive for an hour.
      assertThat(millisLeft(dead)).isGreaterThan(HOUR.toMillis() / 2);

      try (Lease lease = other.lock("back").acquireWithin(TTL.multipliedBy(4))) {
        assertThat(lease.token()).isGreaterThan(token);
      }
    }
  }

  @Test
  void givenLiveHolder_whenTheClockIsSetBackByAnHour_thenItKeepsTheLock_andTokensGoOnRising()
      throws Exception {
    try (LockClient holder = client();
        LockClient other = client()) {
      DistributedLock lock = other.lock("keeps");
      long token;
      try (Lease lease = holder.lock("keeps").acquire()) {
        token = lease.token();
        clock.set(HOUR.negated());
        assertThat(lock.tryAcquire(TTL.multipliedBy(2))).isEmpty();
        lease.ensureValid();
      }
      try (Lease next = lock.acquireWithin(LONG)) {
        assertThat(next.token()).isGreaterThan(token);
      }
    }
  }

  @Test
  void givenLiveHolder_whenTheClockIsSetForward_thenAnotherMayHoldToo_butTheFirstIsToldAndFenced()
      throws Exception {
    try (LockStore paused = JdbcStore.open(server.url());
        LockClient other = client()) {
      // Its next renewal is not due yet: as far as it can know it holds for a TTL.
      TestSession first = new TestSession(paused, TTL);
      long token = first.granted("forward", first.attempt()).token();
      clock.set(HOUR);
      try (Lease second = other.lock("forward").acquireWithin(LONG)) {
        assertThat(second.token()).isGreaterThan(token);
        assertThat(first.renew()).isInstanceOf(io.mortise.spi.Renewal.Lost.class);
      }
    }
  }

  @Test
  void givenHolder_whenTheClockIsSetForwardAndBack_thenLocksWorkAgainWithinTwoTtls() {
    try (LockClient client = client()) {
      DistributedLock lock = client.lock("to and fro");
      clock.set(HOUR);
      Awaitility.await().atMost(TTL.multipliedBy(2)).until(() -> works(lock));
      clock.set(Duration.ZERO);
      Awaitility.await().atMost(TTL.multipliedBy(2)).until(() -> works(lock));
    }
  }

  private static String strictUrl() {
    return server.url()
        + (server.url().contains("?") ? "&" : "?")
        + "prefix=strictly&strict-expiry=true";
  }

  private static LockClient strictClient() {
    return LockClient.builder().url(strictUrl()).ttl(TTL).build();
  }

  @Test
  void givenStrictExpiry_whenTheClockIsSetForwardAndBack_thenALiveHolderKeepsTheLock()
      throws Exception {
    try (LockClient holder = strictClient();
        LockClient other = strictClient();
        Lease lease = holder.lock("strict").acquire()) {
      for (Duration jump : List.of(HOUR, HOUR.negated())) {
        clock.set(jump);
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
      clock.set(Duration.ZERO);
      try (LockStore crashed = JdbcStore.open(strictUrl());
          LockClient other = strictClient()) {
        TestSession dead = new TestSession(crashed, TTL);
        dead.granted("dies", dead.attempt());
        clock.set(jump);
        long began = System.nanoTime();
        try (Lease lease = other.lock("dies").acquireWithin(LONG)) {
          lease.ensureValid();
          assertThat(Duration.ofNanos(System.nanoTime() - began))
              .as("as long as it may believe")
              .isGreaterThanOrEqualTo(TTL);
        }
        assertThat(dead.renew()).isInstanceOf(io.mortise.spi.Renewal.Lost.class);
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

  private static boolean works(DistributedLock lock) {
    Optional<Lease> lease = lock.tryAcquire();
    lease.ifPresent(Lease::close);
    return lease.isPresent();
  }

  private static long millisLeft(TestSession session) throws Exception {
    try (Connection connection = DriverManager.getConnection(server.url());
        Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "SELECT (expires_us - extract(epoch FROM clock_timestamp()) * 1000000) / 1000"
                    + " FROM mortise_session WHERE id = '"
                    + session.id()
                    + "'")) {
      row.next();
      return row.getLong(1);
    }
  }
}
