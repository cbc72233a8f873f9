package io.mortise.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.spi.time.Ticker;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource(TestDatabase.Kind.class)
class OwnConnectionTest extends HelperTest {
  OwnConnectionTest(TestDatabase.Kind kind) {
    super(kind);
  }

  @Test
  void givenStatementThatIsNotAnswered_thenItIsNotTriedAgain_andTheNextGetsAnotherConnection()
      throws Exception {
    if (kind == TestDatabase.Kind.H2 || kind == TestDatabase.Kind.SQLITE) {
      return; // No network.
    }
    String sleep =
        kind == TestDatabase.Kind.POSTGRESQL ? "SELECT 1 FROM pg_sleep(60)" : "SELECT SLEEP(60)";
    AtomicInteger tries = new AtomicInteger();
    try (DedicatedConnection own =
        new DedicatedConnection(database.dataSource(), 2_000, Ticker.SYSTEM)) {
      own.run(HelperTest::balance);
      assertThatThrownBy(
              () ->
                  own.run(
                      connection -> {
                        tries.incrementAndGet();
                        number(connection, sleep);
                      }))
          .isInstanceOf(SQLException.class);
      assertThat(tries).hasValue(1);
      assertThat(own.<Long>call(HelperTest::balance)).isEqualTo(100);
      assertThat(database.handedOut()).hasSize(2);
    }
  }

  @Test
  void givenConnectionThatAFirewallForgot_whenItHasRested_thenAnotherIsTakenBeforeItIsUsed()
      throws Exception {
    AtomicLong time = new AtomicLong();
    AtomicBoolean forgotten = new AtomicBoolean();
    AtomicInteger taken = new AtomicInteger();
    DataSource source =
        source(
            () -> {
              Connection connection = database.dataSource().getConnection();
              boolean first = taken.incrementAndGet() == 1;
              return (Connection)
                  Proxy.newProxyInstance(
                      OwnConnectionTest.class.getClassLoader(),
                      new Class<?>[] {Connection.class},
                      (proxy, method, arguments) -> {
                        if (first && forgotten.get() && !method.getName().equals("close")) {
                          assertThat(method.getName()).isEqualTo("isValid");
                          return false;
                        }
                        return method.invoke(connection, arguments);
                      });
            });
    try (DedicatedConnection own = new DedicatedConnection(source, time::get)) {
      assertThat(own.<Long>call(HelperTest::balance)).isEqualTo(100);
      time.addAndGet(TimeUnit.SECONDS.toNanos(16));
      assertThat(own.<Long>call(HelperTest::balance)).isEqualTo(100);
      assertThat(taken).hasValue(1);
      forgotten.set(true);
      time.addAndGet(TimeUnit.SECONDS.toNanos(16));
      assertThat(own.<Long>call(HelperTest::balance)).isEqualTo(100);
      assertThat(taken).hasValue(2);
    }
  }

  @Test
  void givenDataSourceThatNeverAnswers_thenItIsAskedAgainAfterMinutes_andWhatComesLateIsGivenBack()
      throws Exception {
    AtomicLong time = new AtomicLong();
    AtomicInteger taken = new AtomicInteger();
    CountDownLatch stuck = new CountDownLatch(1);
    DataSource source =
        source(
            () -> {
              if (taken.incrementAndGet() == 1) {
                stuck.await();
              }
              return database.dataSource().getConnection();
            });
    try (DedicatedConnection own = new DedicatedConnection(source, time::get)) {
      assertThat(own.<Long>tryCall(HelperTest::balance)).isEmpty();
      time.addAndGet(TimeUnit.MINUTES.toNanos(2));
      assertThat(own.<Long>tryCall(HelperTest::balance)).isEmpty();
      assertThat(taken).hasValue(1);
      time.addAndGet(TimeUnit.MINUTES.toNanos(2));
      assertThat(own.<Long>call(HelperTest::balance)).isEqualTo(100);
      assertThat(taken).hasValue(2);
      stuck.countDown();
      Awaitility.await()
          .atMost(Duration.ofSeconds(20))
          .until(() -> database.handedOut().stream().anyMatch(OwnConnectionTest::isClosed));
      assertThat(own.<Long>call(HelperTest::balance)).isEqualTo(100);
    } finally {
      stuck.countDown();
    }
  }

  @Test
  void givenConnectionThatBroke_whenClosed_thenSilently() throws Exception {
    SqlHelpers helpers = SqlHelpers.open(database.dataSource());
    database.handedOut().get(0).close();
    assertThatCode(helpers::close).doesNotThrowAnyException();
  }

  /** As in a pool, which hands it to somebody else. */
  @Test
  void givenConnection_whenClosed_thenItIsGivenBackAsItWas() throws Exception {
    try (Connection connection = database.connect()) {
      int timeout = timeoutOf(connection);
      long seconds = lockSecondsOf(connection);
      connection.setAutoCommit(false);
      DedicatedConnection own = new DedicatedConnection(pooled(connection), Ticker.SYSTEM);
      own.run(HelperTest::balance);
      assertThat(connection.getAutoCommit()).isTrue();
      own.close();
      assertThat(connection.getAutoCommit()).isFalse();
      assertThat(timeoutOf(connection)).isEqualTo(timeout);
      assertThat(lockSecondsOf(connection)).isEqualTo(seconds);
    }
  }

  /** As after a restart of the server, with as many threads as the pool has connections. */
  @Test
  void givenOwnConnectionThatBroke_whenAllOfThePoolIsInTransactions_thenNeitherWaitsForTheOther()
      throws Exception {
    if (kind == TestDatabase.Kind.SQLITE) {
      return; // One writer, and no row is made apart.
    }
    Semaphore places = new Semaphore(3, true);
    DataSource pool = pool(places);
    try (SqlHelpers helpers = SqlHelpers.open(pool)) {
      database.handedOut().get(0).close();
      AtomicInteger inTransaction = new AtomicInteger();
      List<Future<Boolean>> threads = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        String name = "new/" + i;
        threads.add(
            start(
                () -> {
                  try (Connection connection = pool.getConnection()) {
                    connection.setAutoCommit(false);
                    // One waits for the place of the helpers' connection.
                    inTransaction.incrementAndGet();
                    Awaitility.await()
                        .atMost(Duration.ofSeconds(20))
                        .until(() -> places.hasQueuedThreads() || inTransaction.get() == 3);
                    helpers.transactionLocks().lock(connection, name);
                    connection.commit();
                    return true;
                  }
                }));
      }
      for (Future<Boolean> thread : threads) {
        assertThat(get(thread)).isTrue();
      }
      assertThat(helpers.once().result("x")).isEmpty();
    }
    assertThat(places.availablePermits()).isEqualTo(3);
  }

  @Test
  void givenPoolThatIsExhausted_whenAResultIsLookedFor_thenTheCallerIsTold_untilThereIsAPlace()
      throws Exception {
    Semaphore places = new Semaphore(1);
    try (SqlHelpers helpers =
        SqlHelpers.open(
            source(
                () -> {
                  places.acquire();
                  return database.dataSource().getConnection();
                }))) {
      database.handedOut().get(0).close();
      for (int i = 0; i < 2; i++) {
        assertThatThrownBy(() -> helpers.once().result("x"))
            .isInstanceOf(SQLTransientConnectionException.class)
            .hasMessageContaining("A pool needs one more");
      }
      places.release();
      Awaitility.await()
          .atMost(Duration.ofSeconds(20))
          .ignoreExceptions()
          .until(() -> helpers.once().result("x").isEmpty());
    }
  }

  /** It must not take the caller's for its own, whatever the source binds to a thread. */
  @Test
  void givenSourceThatGivesTheTransactionsConnection_whenItIsTaken_thenTheTransactionGoesOn()
      throws Exception {
    Thread caller = Thread.currentThread();
    Connection transaction = begin();
    DataSource aware =
        source(
            () ->
                Thread.currentThread() == caller
                    ? transaction
                    : database.dataSource().getConnection());
    pay(transaction, 50);
    try (DedicatedConnection own = new DedicatedConnection(aware, Ticker.SYSTEM)) {
      assertThat(own.<Long>call(HelperTest::balance)).isEqualTo(100);
    }
    assertThat(transaction.getAutoCommit()).isFalse();
    transaction.rollback();
    assertThat(committedBalance()).isEqualTo(100);
  }

  @Test
  void givenThreadThatIsInterrupted_whenItHasToWait_thenItIsTold_andTheFlagStays()
      throws Exception {
    CountDownLatch latch = new CountDownLatch(1);
    DataSource slow =
        source(
            () -> {
              latch.await();
              return database.dataSource().getConnection();
            });
    try (DedicatedConnection own = new DedicatedConnection(slow, Ticker.SYSTEM)) {
      Thread.currentThread().interrupt();
      assertThatThrownBy(() -> own.call(HelperTest::balance))
          .isInstanceOf(SQLTransientConnectionException.class)
          .hasCauseInstanceOf(InterruptedException.class);
      assertThat(Thread.interrupted()).isTrue();
      latch.countDown();
      Awaitility.await()
          .atMost(Duration.ofSeconds(20))
          .ignoreExceptions()
          .until(() -> own.<Long>call(HelperTest::balance) == 100);
    }
  }

  /** Waits for one of the places for longer than the test. */
  private DataSource pool(Semaphore places) {
    return source(
        () -> {
          if (!places.tryAcquire(60, TimeUnit.SECONDS)) {
            throw new SQLTransientConnectionException("timed out");
          }
          Connection connection = database.dataSource().getConnection();
          AtomicBoolean given = new AtomicBoolean(true);
          return (Connection)
              Proxy.newProxyInstance(
                  OwnConnectionTest.class.getClassLoader(),
                  new Class<?>[] {Connection.class},
                  (proxy, method, arguments) -> {
                    if (method.getName().equals("close") && given.getAndSet(false)) {
                      places.release();
                    }
                    try {
                      return method.invoke(connection, arguments);
                    } catch (InvocationTargetException e) {
                      throw e.getCause();
                    }
                  });
        });
  }

  private static boolean isClosed(Connection connection) {
    try {
      return connection.isClosed();
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  private static DataSource source(Callable<Connection> connections) {
    return (DataSource)
        Proxy.newProxyInstance(
            OwnConnectionTest.class.getClassLoader(),
            new Class<?>[] {DataSource.class},
            (proxy, method, arguments) -> connections.call());
  }

  /** A pool of this one, which stays open when it is given back. */
  private static DataSource pooled(Connection connection) {
    ClassLoader loader = Connection.class.getClassLoader();
    Object unclosed =
        Proxy.newProxyInstance(
            loader,
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) ->
                method.getName().equals("close") ? null : method.invoke(connection, arguments));
    return (DataSource)
        Proxy.newProxyInstance(
            loader, new Class<?>[] {DataSource.class}, (proxy, method, arguments) -> unclosed);
  }

  private int timeoutOf(Connection connection) throws SQLException {
    return HelperDialect.of(connection).isServer() ? connection.getNetworkTimeout() : 0;
  }

  private long lockSecondsOf(Connection connection) throws SQLException {
    return HelperDialect.of(connection).isMySqlLike()
        ? number(connection, "SELECT @@innodb_lock_wait_timeout")
        : 0;
  }
}
