package io.mortise.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.UnsupportedByStoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
class TransactionLocksTest extends HelperTest {
  private SqlHelpers helpers;
  private TransactionLocks locks;

  TransactionLocksTest(TestDatabase.Kind kind) {
    super(kind);
  }

  @BeforeEach
  void openHelpers() {
    helpers = SqlHelpers.open(database.dataSource());
    locks = helpers.transactionLocks();
  }

  @AfterEach
  void closeHelpers() {
    helpers.close();
  }

  @Test
  void givenLock_thenOthersWaitUntilCommit_andRollback_andTheEndOfTheConnection() throws Exception {
    Connection a = begin();
    for (int i = 0; i < 3; i++) {
      if (i == 2) {
        a = begin();
      }
      locks.lock(a, "x");
      locks.lock(a, "x");
      Connection b = begin();
      Future<TransactionLock> waiting = start(() -> locks.lock(b, "x"));
      assertThat(waits(waiting)).isTrue();
      switch (i) {
        case 0 -> a.commit();
        case 1 -> a.rollback();
        default -> a.close();
      }
      assertThat(get(waiting).name()).isEqualTo("x");
      b.rollback();
    }
  }

  @Test
  void givenManyWhoReadAndWrite_thenNothingIsLost_andWithoutLockItIs() throws Exception {
    Connection one = begin();
    Connection two = begin();
    long read = balance(one);
    assertThat(balance(two)).isEqualTo(read);
    pay(one, read - 1);
    one.commit();
    pay(two, read - 1);
    two.commit();
    assertThat(committedBalance()).as("the control: 2 were paid, 1 is gone").isEqualTo(99);

    List<Future<Void>> payers = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      Connection connection = begin();
      payers.add(
          start(
              () -> {
                for (int i = 0; i < 20; i++) {
                  locks.lock(connection, "account/42");
                  pay(connection, balance(connection) - 1);
                  connection.commit();
                }
                return null;
              }));
    }
    for (Future<Void> payer : payers) {
      get(payer);
    }
    assertThat(committedBalance()).isEqualTo(19);
  }

  @Test
  void givenLockOfAnother_whenTried_thenEmptyAtOnce_andTheTransactionGoesOn() throws Exception {
    Connection a = begin();
    locks.lock(a, "x");
    Connection b = begin();
    pay(b, 1);
    assertThat(locks.tryLock(b, "x")).isEmpty();
    assertThat(locks.tryLock(b, "x", Duration.ZERO)).isEmpty();
    assertThat(locks.tryLock(b, "y")).isPresent();
    b.commit();
    assertThat(committedBalance()).isEqualTo(1);
    a.commit();
    assertThat(locks.tryLock(b, "x")).isPresent();
  }

  @Test
  void givenLockOfAnother_whenWaitedForSoLong_thenEmptyInTime_andTheTransactionGoesOn()
      throws Exception {
    Connection a = begin();
    locks.lock(a, "x");
    Connection b = begin();
    pay(b, 1);
    long start = System.nanoTime();
    assertThat(locks.tryLock(b, "x", Duration.ofMillis(300))).isEmpty();
    assertThat(Duration.ofNanos(System.nanoTime() - start))
        .isBetween(Duration.ofMillis(250), Duration.ofSeconds(10));
    assertThat(locks.tryLock(b, "y", Duration.ofMillis(300))).isPresent();

    Future<Optional<TransactionLock>> patient =
        start(() -> locks.tryLock(b, "x", Duration.ofSeconds(20)));
    assertThat(waits(patient)).isTrue();
    a.commit();
    assertThat(get(patient)).isPresent();
    // The time limit of one wait does not stay in force.
    Connection c = begin();
    pay(b, 2);
    b.commit();
    locks.lock(c, "z");
    assertThat(locks.tryLock(b, "y", Duration.ofMillis(100))).isPresent();
    Future<TransactionLock> longWait = start(() -> locks.lock(b, "z"));
    // Longer than the limit for y, also in whole seconds.
    assertThat(waits(longWait, Duration.ofMillis(1300))).isTrue();
    c.commit();
    get(longWait);
    assertThat(committedBalance()).isEqualTo(2);
  }

  @Test
  void givenWorkers_thenEachTakesTheFirstThatIsFree() throws Exception {
    List<String> jobs = List.of("job/1", "job/2", "job/3");
    Connection a = begin();
    Connection b = begin();
    assertThat(locks.lockFirstFree(a, jobs)).map(TransactionLock::name).hasValue("job/1");
    assertThat(locks.lockFirstFree(b, jobs)).map(TransactionLock::name).hasValue("job/2");
    assertThat(locks.lockFirstFree(b, List.of("job/1"))).isEmpty();
  }

  @Test
  void givenTokens_thenTheyRise_alsoOverRollbacks_andStayTheSameInATransaction() throws Exception {
    Connection connection = begin();
    long last = 0;
    for (int i = 0; i < 6; i++) {
      TransactionLock lock = locks.lock(connection, "x");
      long token = lock.token();
      assertThat(token).isGreaterThan(last);
      assertThat(lock.token()).isEqualTo(token);
      last = token;
      if (i % 2 == 0) {
        connection.commit();
      } else {
        connection.rollback();
      }
    }
  }

  @Test
  void givenFirstUseByManyAtOnce_thenOneAfterTheOther_inEveryIsolation() throws Exception {
    for (int isolation :
        new int[] {Connection.TRANSACTION_READ_COMMITTED, Connection.TRANSACTION_REPEATABLE_READ}) {
      for (boolean same : new boolean[] {true, false}) {
        CyclicBarrier start = new CyclicBarrier(6);
        List<Future<Void>> users = new ArrayList<>();
        for (int t = 0; t < 6; t++) {
          Connection connection = begin();
          connection.setTransactionIsolation(isolation);
          String name = "new/" + isolation + (same ? "" : "/" + t);
          users.add(
              start(
                  () -> {
                    start.await();
                    lockAndCommit(connection, name);
                    return null;
                  }));
        }
        for (Future<Void> user : users) {
          get(user);
        }
      }
    }
  }

  /** Repeated, as PostgreSQL refuses at REPEATABLE READ a transaction that had to wait. */
  private void lockAndCommit(Connection connection, String name) throws SQLException {
    while (true) {
      try {
        locks.lock(connection, name);
        connection.commit();
        return;
      } catch (SQLException e) {
        if (!"40001".equals(e.getSQLState())) {
          throw e;
        }
        connection.rollback();
      }
    }
  }

  /**
   * The control: the reason to make rows apart. Two transactions read a missing row, and then make
   * it.
   */
  @Test
  void givenRowsMadeInTheTransactions_thenMySqlEndsOneAsADeadlock() throws Exception {
    if (kind != TestDatabase.Kind.MYSQL && kind != TestDatabase.Kind.MARIADB) {
      return;
    }
    List<Connection> both = List.of(begin(), begin());
    for (Connection connection : both) {
      connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      connection
          .createStatement()
          .executeQuery("SELECT token FROM mortise_txlock WHERE name = 'x' FOR UPDATE")
          .close();
    }
    String insert = "INSERT INTO mortise_txlock (name, token) VALUES ('x', 0)";
    String waiting =
        "SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'"
            + " AND trx_mysql_thread_id = "
            + number(both.get(0), "SELECT CONNECTION_ID()");
    Future<Integer> first = start(() -> execute(both.get(0), insert));
    try (Connection looking = database.connect()) {
      await().atMost(Duration.ofSeconds(20)).until(() -> number(looking, waiting) == 1);
    }
    assertThatThrownBy(() -> execute(both.get(1), insert))
        .isInstanceOfSatisfying(
            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("40001"));
    assertThat(get(first)).isEqualTo(1);
  }

  @Test
  void givenOwnConnectionThatBroke_thenAnotherIsTaken_andGivenBackAtTheEnd() throws Exception {
    Connection connection = begin();
    locks.lock(connection, "x");
    List<Connection> own = database.handedOut();
    assertThat(own).hasSize(1);
    own.get(0).close();
    locks.lock(connection, "y");
    assertThat(own).hasSize(2);
    locks.lock(connection, "z");
    assertThat(own).hasSize(2);
    helpers.close();
    assertThat(own.get(1).isClosed()).isTrue();
    locks.lock(connection, "x");
    assertThatThrownBy(() -> locks.lock(connection, "never used"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
  }

  @Test
  void givenRowDeletedByHand_thenTheTransactionIsToBeRepeated_andThenItWorks() throws Exception {
    Connection connection = begin();
    locks.lock(connection, "x");
    connection.commit();
    execute(connection, "DELETE FROM mortise_txlock");
    connection.commit();
    assertThatThrownBy(() -> locks.lock(connection, "x"))
        .isInstanceOfSatisfying(
            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("40001"));
    connection.rollback();
    locks.lock(connection, "x");
    connection.commit();
  }

  @Test
  void givenRowDeletedByHand_whenTried_thenTheTransactionIsToBeRepeated_andThenItIsHad()
      throws Exception {
    Connection connection = begin();
    assertThat(locks.tryLock(connection, "x")).isPresent();
    connection.commit();
    List<Callable<Optional<TransactionLock>>> ways =
        List.of(
            () -> locks.tryLock(connection, "x"),
            () -> locks.tryLock(connection, "x", Duration.ofSeconds(5)),
            () -> locks.lockFirstFree(connection, List.of("x")));
    for (Callable<Optional<TransactionLock>> way : ways) {
      execute(connection, "DELETE FROM mortise_txlock");
      connection.commit();
      assertThatThrownBy(way::call)
          .isInstanceOfSatisfying(
              SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("40001"));
      connection.rollback();
      assertThat(way.call()).isPresent();
      connection.commit();
    }
  }

  @Test
  void givenPlaceOfTheRowLockedByTheTransactionItself_thenRefusedSoon_andOthersGoOn()
      throws Exception {
    if (kind != TestDatabase.Kind.MYSQL && kind != TestDatabase.Kind.MARIADB) {
      return;
    }
    Connection connection = begin();
    connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
    connection
        .createStatement()
        .executeQuery("SELECT token FROM mortise_txlock WHERE name = 'x' FOR UPDATE")
        .close();
    Future<TransactionLock> itself = start(() -> locks.lock(connection, "x"));
    assertThatThrownBy(() -> get(itself))
        .isInstanceOfSatisfying(
            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("40001"))
        .hasMessageContaining("perhaps this one");
    connection.rollback();
    assertThat(locks.lock(connection, "x").name()).isEqualTo("x");
  }

  @Test
  void givenAutocommitOrBadName_thenRefused() throws Exception {
    try (Connection connection = database.connect()) {
      assertThatThrownBy(() -> locks.lock(connection, "x"))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("autocommit");
      assertThatThrownBy(() -> locks.tryLock(connection, "x"))
          .isInstanceOf(IllegalStateException.class);
    }
    Connection connection = begin();
    assertThatThrownBy(() -> locks.lock(connection, ""))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> locks.tryLock(connection, "x", Duration.ofMillis(-1)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void givenSqlite_thenRefusedByName() {
    try (TestDatabase sqlite = TestDatabase.open(TestDatabase.Kind.SQLITE);
        SqlHelpers there = SqlHelpers.open(sqlite.dataSource())) {
      assertThatThrownBy(there::transactionLocks)
          .isInstanceOf(UnsupportedByStoreException.class)
          .hasMessageContaining("SQLite")
          .hasMessageContaining("BEGIN IMMEDIATE");
    }
  }
}
