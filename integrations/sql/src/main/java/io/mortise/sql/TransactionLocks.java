package io.mortise.sql;

import io.mortise.LockName;
import io.mortise.UnsupportedByStoreException;
import io.mortise.spi.time.DurationText;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * Locks by name that are held from here to the end of your transaction: row locks on a table of
 * Mortise's. There is no release, renewal or loss: commit, rollback and the end of the connection
 * free them, in the same instant in which the transaction's writes become visible or vanish. So
 * data guarded by such a lock <em>in this database</em> is safe without a fencing token.
 *
 * <pre>{@code
 * connection.setAutoCommit(false);
 * locks.lock(connection, "invoice/42");
 * …read and write…
 * connection.commit();
 * }</pre>
 *
 * <p>They cannot guard anything else: mail and files are not part of the transaction, and a
 * connection that is cut frees the lock while your code runs on. A long hold is a long transaction,
 * with its cost for the database, and occupies its connection. Only the database's own tools show
 * the holder of a lock.
 *
 * <p>Take the lock first. On MySQL and MariaDB at REPEATABLE READ, a transaction that read before
 * goes on seeing older data. PostgreSQL above READ COMMITTED, and H2 at SERIALIZABLE and SNAPSHOT,
 * refuse a transaction (SQL state 40001) whose snapshot is older than the last commit under the
 * lock. There the snapshot is taken before the wait, so a transaction that had to wait is refused
 * as well: roll back and repeat, or use READ COMMITTED. The lock writes its row for that. Take
 * several in the same order everywhere, or the database will end one of two transactions as a
 * deadlock.
 *
 * <p>Locking again in the same transaction has no further effect. Thread-safe; the connections are
 * the caller's.
 */
public final class TransactionLocks {
  private static final String TABLE = "txlock";

  private final SqlFiles files;
  private final HelperRowCreator rows;

  TransactionLocks(SqlFiles files, HelperRowCreator rows) {
    if (files.dialect() == HelperDialect.SQLITE) {
      throw new UnsupportedByStoreException(
          "SQLite has no row locks: a transaction that writes locks the whole file. Begin it with BEGIN IMMEDIATE"
              + " (transaction_mode=IMMEDIATE in the URL), which is that one lock, or use a LockClient on jdbc:sqlite:.");
    }
    this.files = files;
    this.rows = rows;
  }

  /**
   * Waits until the transaction has the lock. Blocks for one round trip, a few more on the first
   * use of the name by this process, and while another transaction has the lock: as long as the
   * database itself lets it wait.
   *
   * @throws IllegalArgumentException if it is no lock name
   * @throws IllegalStateException if autocommit is on
   * @throws SQLException if the database fails or refuses: a deadlock, the end of its own lock
   *     wait, a conflict that its isolation level does not allow; roll back
   */
  public TransactionLock lock(Connection connection, String name) throws SQLException {
    prepare(connection, name);
    if (!select(connection, name, files.statement("txlock_lock"))) {
      throw rows.gone(TABLE, name);
    }
    return new TransactionLock(files, connection, name);
  }

  /**
   * Takes the lock if no other transaction has it. Does not wait; blocks for one round trip, two if
   * it is taken, a few more on the first use of the name by this process. The transaction stays
   * usable either way.
   *
   * @return empty if another has it
   * @throws IllegalArgumentException if it is no lock name
   * @throws IllegalStateException if autocommit is on
   * @throws SQLException if the database fails or refuses; roll back
   */
  public Optional<TransactionLock> tryLock(Connection connection, String name) throws SQLException {
    prepare(connection, name);
    return trySelect(connection, name)
        ? Optional.of(new TransactionLock(files, connection, name))
        : Optional.empty();
  }

  /**
   * Waits for the lock, but not much longer than this: MySQL and MariaDB count whole seconds,
   * rounded up; PostgreSQL applies the limit both to the wait for a place in the queue and to that
   * for the lock. Blocks. The transaction stays usable either way.
   *
   * @return empty if the time is over
   * @throws IllegalArgumentException if it is no lock name, or the time is negative or above a day
   * @throws IllegalStateException if autocommit is on
   * @throws SQLException if the database fails or refuses, or is set to roll back the whole
   *     transaction at the end of a wait (MySQL's {@code innodb_rollback_on_timeout}); roll back
   */
  public Optional<TransactionLock> tryLock(Connection connection, String name, Duration wait)
      throws SQLException {
    if (wait.isNegative() || wait.toDays() > 0) {
      throw new IllegalArgumentException(
          "The wait " + DurationText.format(wait) + " is not within 0s and 1d.");
    }
    if (wait.isZero()) {
      return tryLock(connection, name);
    }
    prepare(connection, name);
    boolean had =
        switch (files.dialect()) {
          case POSTGRESQL -> lockOnPostgres(connection, name, wait);
          case MYSQL, MARIADB -> lockOnMySql(connection, name, wait);
          case H2, SQLITE -> lockOnH2(connection, name, wait);
        };
    return had ? Optional.of(new TransactionLock(files, connection, name)) : Optional.empty();
  }

  /**
   * Takes the first of these locks that no other transaction has. Does not wait, so several workers
   * can share the work. Blocks for one round trip for each lock tried, two for a taken one.
   *
   * @return empty if all are taken
   * @throws IllegalArgumentException if one is no lock name
   * @throws IllegalStateException if autocommit is on
   * @throws SQLException if the database fails or refuses; roll back
   */
  public Optional<TransactionLock> lockFirstFree(Connection connection, Iterable<String> names)
      throws SQLException {
    for (String name : names) {
      Optional<TransactionLock> lock = tryLock(connection, name);
      if (lock.isPresent()) {
        return lock;
      }
    }
    return Optional.empty();
  }

  private void prepare(Connection connection, String name) throws SQLException {
    LockName.of(name);
    HelperRowCreator.requireTransaction(connection, "A transaction lock");
    rows.ensure(TABLE, connection, name);
  }

  private static boolean select(Connection connection, String name, String sql)
      throws SQLException {
    return new PositionalStatement(connection, sql).add(HelperRowCreator.bytes(name)).hasRow();
  }

  private boolean trySelect(Connection connection, String name) throws SQLException {
    String sql = files.statement("txlock_try");
    if (files.dialect().isMySqlLike()) {
      return selectOrTimeOut(connection, name, sql);
    }
    if (select(connection, name, sql)) {
      return writeOnH2(connection, name);
    }
    // Skipped, because another has it; or invisible to this transaction for good.
    if (!rows.exists(connection, TABLE, name)) {
      throw rows.gone(TABLE, name);
    }
    return false;
  }

  /** H2 has time limits for SELECT only: the row is locked, and is written in a second step. */
  private boolean writeOnH2(Connection connection, String name) throws SQLException {
    return files.dialect() != HelperDialect.H2
        || select(connection, name, files.statement("txlock_lock"));
  }

  /** False if the time is over; then only the statement was undone. */
  private boolean selectOrTimeOut(Connection connection, String name, String sql)
      throws SQLException {
    try {
      if (select(connection, name, sql)) {
        return true;
      }
    } catch (SQLException e) {
      if (files.dialect().isLockTimeout(e) && !endsAll(connection, e)) {
        return false;
      }
      throw e;
    }
    throw rows.gone(TABLE, name);
  }

  /** Whether this server rolls back the transaction at the end of a wait. */
  private boolean endsAll(Connection connection, SQLException timeout) throws SQLException {
    return timeout.getErrorCode() == 1205
        && files.dialect().isMySqlLike()
        && !setting(connection, "wait_ends_all").equals("0");
  }

  private boolean lockOnH2(Connection connection, String name, Duration wait) throws SQLException {
    String seconds = String.valueOf(Math.max(1, wait.toMillis()) / 1000.0);
    return selectOrTimeOut(
            connection, name, files.statement("txlock_lock_within", Map.of("seconds", seconds)))
        && writeOnH2(connection, name);
  }

  /** An error ends PostgreSQL's transaction, unless it rolls back to a savepoint. */
  private boolean lockOnPostgres(Connection connection, String name, Duration wait)
      throws SQLException {
    String before = setting(connection, "wait_read");
    Savepoint savepoint = connection.setSavepoint();
    setWait(connection, Math.max(1, wait.toMillis()) + "ms");
    if (selectOrTimeOut(connection, name, files.statement("txlock_lock"))) {
      setWait(connection, before);
      connection.releaseSavepoint(savepoint);
      return true;
    }
    // Undoes the setting too.
    connection.rollback(savepoint);
    connection.releaseSavepoint(savepoint);
    return false;
  }

  private String setting(Connection connection, String statement) throws SQLException {
    try (Statement read = connection.createStatement();
        ResultSet row = read.executeQuery(files.statement(statement))) {
      row.next();
      return row.getString(1);
    }
  }

  private void setWait(Connection connection, String value) throws SQLException {
    files.statement(connection, "wait_write").add(value).hasRow();
  }

  private boolean lockOnMySql(Connection connection, String name, Duration wait)
      throws SQLException {
    long before = Long.parseLong(setting(connection, "wait_read"));
    setWait(connection, (wait.toMillis() + 999) / 1000);
    boolean had;
    try {
      had = selectOrTimeOut(connection, name, files.statement("txlock_lock"));
    } catch (SQLException e) {
      try {
        setWait(connection, before);
      } catch (SQLException second) {
        e.addSuppressed(second);
      }
      throw e;
    }
    setWait(connection, before);
    return had;
  }

  private void setWait(Connection connection, long seconds) throws SQLException {
    Map<String, String> value = Map.of("seconds", Long.toString(Math.max(1, seconds)));
    try (Statement write = connection.createStatement()) {
      write.execute(files.statement("wait_write", value));
    }
  }
}
