package io.mortise.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.FencingToken;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * At every isolation level, a transaction that was let in reads what the one before it wrote. Where
 * the level shows the data as they were before the wait, the database has to refuse instead.
 */
@ParameterizedClass
@EnumSource(TestDatabase.Kind.class)
@Tag("extended")
class IsolationTest extends HelperTest {
  /** H2's SNAPSHOT, which JDBC has no constant for. */
  private static final int SNAPSHOT = 6;

  private SqlHelpers helpers;

  IsolationTest(TestDatabase.Kind kind) {
    super(kind);
  }

  /** Lets a transaction in, or keeps it waiting until it is. */
  @FunctionalInterface
  private interface AdmissionMethod {
    void enter(Connection connection) throws Exception;
  }

  @BeforeEach
  void openHelpers() {
    helpers = SqlHelpers.open(database.dataSource());
  }

  @AfterEach
  void closeHelpers() {
    helpers.close();
  }

  private List<Integer> levels() {
    return switch (kind) {
      case SQLITE -> List.of(Connection.TRANSACTION_SERIALIZABLE);
      case H2 ->
          List.of(
              Connection.TRANSACTION_READ_COMMITTED,
              Connection.TRANSACTION_REPEATABLE_READ,
              Connection.TRANSACTION_SERIALIZABLE,
              SNAPSHOT);
      default ->
          List.of(
              Connection.TRANSACTION_READ_COMMITTED,
              Connection.TRANSACTION_REPEATABLE_READ,
              Connection.TRANSACTION_SERIALIZABLE);
    };
  }

  private Connection begin(int level) throws SQLException {
    Connection connection = begin();
    connection.setTransactionIsolation(level);
    return connection;
  }

  /**
   * Each begins with a transaction that leaves the row as it is, so that nothing but a write helps.
   */
  private Map<String, AdmissionMethod> entrances() {
    Map<String, AdmissionMethod> all = new LinkedHashMap<>();
    if (kind != TestDatabase.Kind.SQLITE) {
      TransactionLocks locks = helpers.transactionLocks();
      all.put("lock", connection -> locks.lock(connection, "x"));
      all.put(
          "lock, and its token",
          connection -> assertThat(locks.lock(connection, "y").token()).isPositive());
      all.put(
          "timed lock",
          connection ->
              assertThat(locks.tryLock(connection, "z", Duration.ofSeconds(30))).isPresent());
    }
    all.put("fence", connection -> helpers.fence().enter(connection, token(33)));
    all.put(
        "fenced update that sets nothing",
        connection -> FencedUpdate.of("account").where("id", 42).execute(connection, token(33)));
    return all;
  }

  @Test
  void givenTransactionThatWaited_whenItIsLetIn_thenItReadsWhatTheOneBeforeWrote_orIsRefused()
      throws Exception {
    for (Map.Entry<String, AdmissionMethod> each : entrances().entrySet()) {
      for (int before : levels()) {
        for (int level : levels()) {
          if (isRefused(each.getKey(), before) || isRefused(each.getKey(), level)) {
            continue;
          }
          String which = each.getKey() + ", level " + level + " after level " + before;
          assertNothingIsMissed(which, each.getValue(), before, level);
        }
      }
    }
  }

  /** H2 refuses what nothing would tell that it reads old data: see below. */
  private boolean isRefused(String admissionMethod, int level) {
    return kind == TestDatabase.Kind.H2
        && admissionMethod.startsWith("fence")
        && level
            > (admissionMethod.equals("fence")
                ? Connection.TRANSACTION_REPEATABLE_READ
                : Connection.TRANSACTION_READ_COMMITTED);
  }

  private void assertNothingIsMissed(
      String which, AdmissionMethod admissionMethod, int before, int level) throws Exception {
    Connection one = begin(before);
    admissionMethod.enter(one);
    one.commit();
    admissionMethod.enter(one);
    execute(one, "INSERT INTO account (id, balance) VALUES (43, 1)");
    Connection two = begin(level);
    Future<Long> read =
        start(
            () -> {
              admissionMethod.enter(two);
              return number(two, "SELECT COUNT(*) FROM account");
            });
    assertThat(waits(read, Duration.ofMillis(100))).as(which).isTrue();
    one.commit();
    long seen;
    try {
      seen = get(read);
    } catch (SQLException e) {
      assertThat(e.getSQLState()).as(which + ": " + e).isEqualTo("40001");
      two.rollback();
      admissionMethod.enter(two);
      seen = number(two, "SELECT COUNT(*) FROM account");
    }
    assertThat(seen).as(which).isEqualTo(2);
    two.commit();
    execute(one, "DELETE FROM account WHERE id = 43");
    one.commit();
    one.close();
    two.close();
  }

  private void assertConflict(
      String which, AdmissionMethod admissionMethod, Connection connection) {
    assertThatThrownBy(() -> admissionMethod.enter(connection))
        .as(which)
        .isInstanceOfSatisfying(
            SQLException.class, e -> assertThat(e.getSQLState()).as(which).isEqualTo("40001"));
  }

  /** Levels at which a transaction that has read goes on reading what was there then. */
  private boolean keepsWhatWasRead(int level) {
    return switch (kind) {
      case POSTGRESQL -> level > Connection.TRANSACTION_READ_COMMITTED;
      case H2 -> level > Connection.TRANSACTION_REPEATABLE_READ;
      default -> false;
    };
  }

  @Test
  void givenTransactionThatReadBefore_whenTheLockWasHadSince_thenItIsRefused() throws Exception {
    if (kind != TestDatabase.Kind.POSTGRESQL && kind != TestDatabase.Kind.H2) {
      return;
    }
    TransactionLocks locks = helpers.transactionLocks();
    Map<String, AdmissionMethod> all = entrances();
    all.keySet().removeIf(name -> name.startsWith("fence"));
    all.put("tried lock", connection -> assertThat(locks.tryLock(connection, "x")).isPresent());
    for (Map.Entry<String, AdmissionMethod> each : all.entrySet()) {
      for (int level : levels()) {
        String which = each.getKey() + ", level " + level;
        Connection one = begin();
        each.getValue().enter(one);
        one.commit();
        Connection two = begin(level);
        balance(two);
        each.getValue().enter(one);
        pay(one, 1);
        one.commit();
        if (keepsWhatWasRead(level)) {
          assertConflict(which, each.getValue(), two);
          two.rollback();
        }
        each.getValue().enter(two);
        two.rollback();
        one.close();
        two.close();
      }
    }
  }

  @Test
  void givenTransactionThatReadBefore_whenTheLocksRowIsNewer_thenItIsRefused_notToldThatItIsHeld()
      throws Exception {
    if (kind == TestDatabase.Kind.SQLITE) {
      return;
    }
    TransactionLocks locks = helpers.transactionLocks();
    for (int level : levels()) {
      Connection connection = begin(level);
      number(connection, "SELECT COUNT(*) FROM mortise_txlock");
      if (kind == TestDatabase.Kind.H2
          ? level > Connection.TRANSACTION_READ_COMMITTED
          : keepsWhatWasRead(level)) {
        assertConflict("level " + level, c -> locks.tryLock(c, "new" + level), connection);
        connection.rollback();
      }
      if (kind == TestDatabase.Kind.MARIADB || kind == TestDatabase.Kind.MYSQL) {
        // They have read all of the table, at SERIALIZABLE with locks.
        connection.rollback();
      }
      assertThat(locks.tryLock(connection, "new" + level)).as("level " + level).isPresent();
      connection.rollback();
    }
  }

  /**
   * A same value written is no write to H2: nothing would tell a successor that it reads old data.
   */
  @Test
  void givenH2AtALevelWithOldSnapshots_whenAFenceIsEntered_thenRefusedByName() throws Exception {
    if (kind != TestDatabase.Kind.H2) {
      return;
    }
    Map<String, AdmissionMethod> admissionMethods = entrances();
    for (String name : List.of("fence", "fenced update that sets nothing")) {
      for (int level : levels()) {
        if (isRefused(name, level)) {
          Connection connection = begin(level);
          assertThatThrownBy(() -> admissionMethods.get(name).enter(connection))
              .as("%s, level %d", name, level)
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("isolation level")
              .hasMessageContaining("Set READ COMMITTED");
          assertThat(
                  FencedUpdate.of("account")
                      .set("balance", level)
                      .where("id", 42)
                      .execute(connection, token(33)))
              .isTrue();
          connection.close();
        }
      }
    }
  }

  @Test
  void givenKeyNeverUsed_whenForgottenAndRunInOneTransaction_thenNothingWaitsForItself()
      throws Exception {
    for (int level : levels()) {
      Connection connection = begin(level);
      String key = "key" + level;
      Future<Boolean> ran =
          start(
              () -> {
                assertThat(helpers.once().forget(connection, key)).isFalse();
                return helpers.once().run(connection, key, () -> new byte[0]).ranHere();
              });
      assertThat(get(ran)).as("level " + level).isTrue();
      connection.commit();
      assertThat(helpers.once().forget(connection, key)).isTrue();
      connection.commit();
      connection.close();
    }
  }

  @Test
  void givenLockNeverFenced_whenItsTokenIsReadBeforeEntering_thenNothingWaitsForItself()
      throws Exception {
    for (int level : levels()) {
      if (kind == TestDatabase.Kind.H2 && level > Connection.TRANSACTION_REPEATABLE_READ) {
        continue; // Refused, see above.
      }
      Connection connection = begin(level);
      FencingToken token = new FencingToken("lock" + level, 7, "h");
      Future<Long> latest =
          start(
              () -> {
                assertThat(helpers.fence().latest(connection, token.lock())).isEmpty();
                if (kind == TestDatabase.Kind.POSTGRESQL || kind == TestDatabase.Kind.H2) {
                  connection.rollback(); // Else their snapshots are older than the row.
                }
                helpers.fence().enter(connection, token);
                return helpers.fence().latest(connection, token.lock()).orElseThrow();
              });
      assertThat(get(latest)).as("level " + level).isEqualTo(7);
      connection.commit();
      connection.close();
    }
  }

  private boolean isDoneBy(Connection connection) throws SQLException {
    return helpers.once().run(connection, "pay", () -> new byte[0]).ranHere();
  }

  @Test
  void givenTransactionThatWaited_whenTheOneBeforeDidTheWork_thenItIsNotDoneTwice_atAnyLevel()
      throws Exception {
    for (int level : levels()) {
      String which = "level " + level;
      Connection one = begin(level);
      assertThat(isDoneBy(one)).as(which).isTrue();
      Connection two = begin(level);
      Future<Boolean> again = start(() -> isDoneBy(two));
      assertThat(waits(again, Duration.ofMillis(100))).as(which).isTrue();
      one.commit();
      boolean twice;
      try {
        twice = get(again);
      } catch (SQLException e) {
        assertThat(e.getSQLState()).as(which + ": " + e).isEqualTo("40001");
        two.rollback();
        twice = isDoneBy(two);
      }
      assertThat(twice).as(which).isFalse();
      two.commit();
      assertThat(helpers.once().forget(two, "pay")).isTrue();
      two.commit();
      one.close();
      two.close();
    }
  }
}
