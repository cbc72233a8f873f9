package io.mortise.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.LeaseLostException;
import io.mortise.UnsupportedByStoreException;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testkit.server.FaultInjectionProxy.NetworkCondition;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource(names = {"POSTGRESQL", "MYSQL", "MARIADB"})
class SessionLocksTest extends HelperTest {
  private static final Duration LONG = Duration.ofSeconds(20);
  private static final Duration CHECK = Duration.ofMillis(600);

  /** The connections that were handed out, in order. */
  private final List<Connection> handedOut = Collections.synchronizedList(new ArrayList<>());

  private final CountDownLatch resume = new CountDownLatch(1);
  private volatile boolean hangs;
  private SessionLocks locks;
  private SessionLocks others;

  SessionLocksTest(TestDatabase.Kind kind) {
    super(kind);
  }

  @BeforeEach
  void openLocks() {
    locks = SessionLocks.over(recording(database.dataSource()), CHECK);
    others = SessionLocks.over(database.dataSource());
  }

  @AfterEach
  void closeLocks() {
    resume.countDown();
    locks.close();
    others.close();
    for (Connection connection : handedOut) {
      await().atMost(LONG).until(connection::isClosed);
    }
  }

  private DataSource recording(DataSource source) {
    return (DataSource)
        Proxy.newProxyInstance(
            DataSource.class.getClassLoader(),
            new Class<?>[] {DataSource.class},
            (proxy, method, arguments) -> {
              Connection connection = source.getConnection();
              handedOut.add(connection);
              return hanging(connection);
            });
  }

  /** Statements block while the test says so, as on a cut wire. */
  private Connection hanging(Connection connection) {
    return (Connection)
        Proxy.newProxyInstance(
            Connection.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> call(connection, method, arguments));
  }

  private Object call(Connection connection, Method method, Object[] arguments) throws Throwable {
    if (hangs && method.getName().equals("prepareStatement")) {
      resume.await();
    }
    try {
      return method.invoke(connection, arguments);
    } catch (java.lang.reflect.InvocationTargetException e) {
      throw e.getCause();
    }
  }

  private void onServer(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  @Test
  void givenHeldLock_thenOthersDoNotGetIt_untilItIsReleased() throws Exception {
    SessionLease lease = locks.tryAcquire("nightly").orElseThrow();
    assertThat(lease.isHeld()).isTrue();
    assertThat(lease.name()).isEqualTo("nightly");
    assertThat(others.tryAcquire("nightly")).isEmpty();
    assertThat(locks.tryAcquire("nightly")).as("not re-entrant").isEmpty();
    assertThat(others.tryAcquire("NIGHTLY")).as("another name").isPresent();
    assertThat(others.tryAcquire("n".repeat(512))).isPresent();
    lease.close();
    lease.close();
    assertThat(lease.isHeld()).isFalse();
    assertThat(others.tryAcquire("nightly")).isPresent();
  }

  @Test
  void givenHeldLock_whenWaitedFor_thenGrantedOnRelease_orEmptyInTime() throws Exception {
    SessionLease lease = others.tryAcquire("nightly").orElseThrow();
    long start = System.nanoTime();
    assertThat(locks.tryAcquire("nightly", Duration.ofMillis(200))).isEmpty();
    assertThat(Duration.ofNanos(System.nanoTime() - start))
        .isBetween(Duration.ofMillis(150), Duration.ofSeconds(10));
    Future<Optional<SessionLease>> waiting = start(() -> locks.tryAcquire("nightly", LONG));
    assertThat(waits(waiting)).isTrue();
    lease.close();
    assertThat(get(waiting).orElseThrow().isHeld()).isTrue();
  }

  @Test
  @RerunIfPaused
  void givenIdleLease_thenChecksFindItHeld() throws Exception {
    SessionLease lease = locks.tryAcquire("nightly").orElseThrow();
    CompletableFuture<LeaseLostException> loss = new CompletableFuture<>();
    lease.onLost(loss::complete);
    assertThat(waits(loss, CHECK.multipliedBy(4))).isTrue();
    assertThat(lease.isHeld()).isTrue();
    assertThatCode(lease::close).doesNotThrowAnyException();
  }

  @Test
  void givenConnectionThatTheServerEnds_thenTheLossIsTold_andAnotherMayHold() throws Exception {
    SessionLease lease = locks.tryAcquire("nightly").orElseThrow();
    CompletableFuture<LeaseLostException> loss = new CompletableFuture<>();
    lease.onLost(loss::complete);
    Connection connection = handedOut.get(0);
    boolean postgres = kind == TestDatabase.Kind.POSTGRESQL;
    long id = number(connection, postgres ? "SELECT pg_backend_pid()" : "SELECT CONNECTION_ID()");
    try (Connection admin = database.connect()) {
      onServer(admin, postgres ? "SELECT pg_terminate_backend(" + id + ")" : "KILL " + id);
    }
    assertThat(loss).succeedsWithin(LONG);
    assertThat(loss.join()).hasMessageContaining("nightly");
    assertThat(lease.isHeld()).isFalse();
    CompletableFuture<LeaseLostException> late = new CompletableFuture<>();
    lease.onLost(late::complete);
    assertThat(late).succeedsWithin(LONG);
    await().atMost(LONG).until(() -> others.tryAcquire("nightly").isPresent());
    assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
    assertThatCode(lease::close).as("once is enough").doesNotThrowAnyException();
  }

  @Test
  void givenLockThatVanishedFromALiveConnection_thenTheLossIsTold_orTheReleaseTells()
      throws Exception {
    String unlock =
        kind == TestDatabase.Kind.POSTGRESQL
            ? "SELECT pg_advisory_unlock_all()"
            : "SELECT RELEASE_ALL_LOCKS()";
    SessionLease lease = locks.tryAcquire("nightly").orElseThrow();
    CompletableFuture<LeaseLostException> loss = new CompletableFuture<>();
    lease.onLost(loss::complete);
    onServer(handedOut.get(0), unlock);
    assertThat(loss).succeedsWithin(LONG);

    try (SessionLocks unhurried =
        SessionLocks.over(recording(database.dataSource()), Duration.ofMinutes(10))) {
      SessionLease unchecked = unhurried.tryAcquire("weekly").orElseThrow();
      onServer(handedOut.get(1), unlock);
      assertThatThrownBy(unchecked::close).isInstanceOf(LeaseLostException.class);
    }
    assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
  }

  @Test
  void givenServerThatDoesNotAnswer_thenTheLeaseIsLostAfterTwoChecks() throws Exception {
    SessionLease lease = locks.tryAcquire("nightly").orElseThrow();
    CompletableFuture<LeaseLostException> loss = new CompletableFuture<>();
    lease.onLost(loss::complete);
    hangs = true;
    assertThat(loss).succeedsWithin(LONG);
    assertThat(loss.join()).hasMessageContaining("did not answer");
    await().atMost(LONG).until(() -> others.tryAcquire("nightly").isPresent());
    assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
  }

  private SessionLocks through(FaultInjectionProxy proxy, int port) {
    String url = database.url().replace(":" + port + "/", ":" + proxy.port() + "/");
    return SessionLocks.over(
        (DataSource)
            Proxy.newProxyInstance(
                DataSource.class.getClassLoader(),
                new Class<?>[] {DataSource.class},
                (proxied, method, arguments) -> DriverManager.getConnection(url)),
        CHECK);
  }

  @Test
  void givenServerThatFallsSilent_whenALockIsAskedFor_thenThatEnds_andNothingIsLeftHeld()
      throws Exception {
    int port = Integer.parseInt(database.url().replaceFirst(".*?:(\\d+)/.*", "$1"));
    Duration wait = Duration.ofSeconds(1);
    try (FaultInjectionProxy proxy = FaultInjectionProxy.to(port);
        SessionLocks silenced = through(proxy, port)) {
      proxy.condition(NetworkCondition.FROZEN);
      assertThatThrownBy(() -> get(start(() -> silenced.tryAcquire("nightly", wait))))
          .isInstanceOf(SQLException.class);
      proxy.condition(NetworkCondition.FAIR);

      SessionLease held = others.tryAcquire("nightly").orElseThrow();
      Future<Optional<SessionLease>> waiting =
          start(() -> silenced.tryAcquire("nightly", Duration.ofSeconds(4)));
      assertThat(waits(waiting)).isTrue();
      proxy.condition(NetworkCondition.FROZEN);
      assertThatThrownBy(() -> get(waiting)).isInstanceOf(SQLException.class);
      proxy.condition(NetworkCondition.FAIR);
      held.close();
      await().atMost(LONG).until(() -> others.tryAcquire("nightly").isPresent());
    }
  }

  @Test
  void givenWaiter_whenTheHolderBuildsAnIndexConcurrently_thenThatDoesNotWaitForTheWaiter()
      throws Exception {
    Assumptions.assumeTrue(kind == TestDatabase.Kind.POSTGRESQL);
    SessionLease lease = locks.tryAcquire("migration").orElseThrow();
    Future<Optional<SessionLease>> waiting =
        start(() -> others.tryAcquire("migration", Duration.ofSeconds(100)));
    assertThat(waits(waiting)).isTrue();
    try (Connection migrating = database.connect()) {
      // Other snapshots there, such as an ANALYZE's, end sooner.
      onServer(migrating, "SET statement_timeout = '60s'");
      onServer(migrating, "CREATE INDEX CONCURRENTLY account_balance ON account (balance)");
    }
    assertThat(waiting.isDone()).isFalse();
    lease.close();
    assertThat(get(waiting).orElseThrow().isHeld()).isTrue();
  }

  @Test
  void givenPooledConnection_thenItComesBackAsItWas_withoutTheLock() throws Exception {
    Connection pooled = begin();
    int network = pooled.getNetworkTimeout();
    Connection kept =
        (Connection)
            Proxy.newProxyInstance(
                Connection.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                (proxy, method, arguments) ->
                    method.getName().equals("close") ? null : call(pooled, method, arguments));
    DataSource pool =
        (DataSource)
            Proxy.newProxyInstance(
                DataSource.class.getClassLoader(),
                new Class<?>[] {DataSource.class},
                (proxy, method, arguments) -> kept);
    try (SessionLocks pooledLocks = SessionLocks.over(pool, CHECK)) {
      pooledLocks.tryAcquire("nightly", Duration.ofSeconds(2)).orElseThrow().close();
    }
    assertThat(pooled.getAutoCommit()).isFalse();
    assertThat(pooled.getNetworkTimeout()).isEqualTo(network);
    if (kind == TestDatabase.Kind.POSTGRESQL) {
      assertThat(number(pooled, "SELECT current_setting('lock_timeout')::bigint")).isZero();
    }
    assertThat(others.tryAcquire("nightly")).isPresent();
  }

  @Test
  void givenClosedLocks_thenAllAreReleased_andNoneIsGranted() throws Exception {
    SessionLease lease = locks.tryAcquire("nightly").orElseThrow();
    locks.close();
    assertThat(lease.isHeld()).isFalse();
    assertThat(others.tryAcquire("nightly")).isPresent();
    assertThatThrownBy(() -> locks.tryAcquire("weekly")).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void givenLease_thenThereIsNoTokenToAskFor() {
    for (Method method : SessionLease.class.getMethods()) {
      assertThat(method.getName().toLowerCase(java.util.Locale.ROOT)).doesNotContain("token");
    }
  }

  @Test
  void givenDatabaseWithoutSessionLocks_thenRefusedByName() {
    for (TestDatabase.Kind lacking :
        new TestDatabase.Kind[] {TestDatabase.Kind.H2, TestDatabase.Kind.SQLITE}) {
      try (TestDatabase there = TestDatabase.open(lacking);
          SessionLocks none = SessionLocks.over(there.dataSource())) {
        assertThatThrownBy(() -> none.tryAcquire("x"))
            .isInstanceOf(UnsupportedByStoreException.class)
            .hasMessageContainingAll(lacking == TestDatabase.Kind.H2 ? "H2" : "SQLite");
      }
    }
  }
}
