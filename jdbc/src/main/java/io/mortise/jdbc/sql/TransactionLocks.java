package io.mortise.jdbc.sql;

import io.mortise.UnsupportedByStoreException;
import io.mortise.spi.LockName;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Locks by name that are held from here to the end of your transaction: row locks on a table of
 * Mortise's. There is nothing to release, renew or lose: commit, rollback and the end of the
 * connection free them, in the same instant in which the transaction's writes become visible or
 * vanish. So what such a lock guards <em>in this database</em> is safe without a fencing token.
 *
 * <pre>{@code
 * connection.setAutoCommit(false);
 * locks.lock(connection, "invoice/42");
 * …read and write…
 * connection.commit();
 * }</pre>
 *
 * <p>They cannot guard anything else: mail and files know nothing of the transaction, and a
 * connection that is cut frees the lock while your code runs on. A long hold is a long transaction,
 * with what that costs the database, and keeps its connection. Who holds a lock is known to the
 * database's own tools only.
 *
 * <p>Take the lock first. On MySQL and MariaDB at REPEATABLE READ, and on PostgreSQL above READ
 * COMMITTED, a transaction that read before goes on seeing the data as they were then. Take several
 * in one order everywhere, or the database will end one of two transactions as a deadlock.
 *
 * <p>Locking again in the same transaction does nothing more. Thread-safe; the connections are the
 * caller's.
 */
public final class TransactionLocks {
  private static final String TABLE = "txlock";

  private final SqlFiles files;
  private final HelperRows rows;

  TransactionLocks(SqlFiles files, HelperRows rows) {
    if (files.dialect() == Dialect.SQLITE) {
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
   * Takes the lock if no other transaction has it. Does not wait; blocks for one round trip, a few
   * more on the first use of the name by this process. The transaction stays usable either way.
   *
   * @return empty if another has it
   * @throws IllegalArgumentException if it is no lock name
   * @throws IllegalStateException if autocommit is on
   * @throws SQLException if the database fails or refuses; roll back
   */
  public Optional<TransactionLock> tryLock(Connection connection, String name) throws SQLException {
    prepare(connection, name);
    return select(connection, name, files.statement("txlock_try"))
        ? Optional.of(new TransactionLock(files, connection, name))
        : Optional.empty();
  }

  /**
   * Waits for the lock, but not much longer than this: MySQL and MariaDB count whole seconds,
   * rounded up; PostgreSQL counts the wait for a place in the queue and that for the lock each.
   * Blocks. The transaction stays usable either way.
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
      throw new IllegalArgumentException("The wait " + wait + " is not within 0 and 24 h.");
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
   * Takes the first of these locks that no other transaction has. Does not wait: so several workers
   * share out what there is to do. Blocks for one round trip for each lock that is looked at.
   *
   * @return empty if others have them all
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
    HelperRows.requireTransaction(connection, "A transaction lock");
    rows.ensure(TABLE, connection, name);
  }

  private static boolean select(Connection connection, String name, String sql)
      throws SQLException {
    try (PreparedStatement lock = connection.prepareStatement(sql)) {
      lock.setBytes(1, HelperRows.bytes(name));
      try (ResultSet row = lock.executeQuery()) {
        return row.next();
      }
    }
  }

  /** False if the time is over; then the statement, and no more, was undone. */
  private boolean selectOrTimeOut(Connection connection, String name, String sql)
      throws SQLException {
    try {
      if (select(connection, name, sql)) {
        return true;
      }
    } catch (SQLException e) {
      if (files.dialect().isLockTimeout(e)) {
        return false;
      }
      throw e;
    }
    throw rows.gone(TABLE, name);
  }

  private boolean lockOnH2(Connection connection, String name, Duration wait) throws SQLException {
    String seconds = String.valueOf(Math.max(1, wait.toMillis()) / 1000.0);
    return selectOrTimeOut(
        connection, name, files.statement("txlock_lock_within", Map.of("seconds", seconds)));
  }

  /** An error ends PostgreSQL's transaction, unless there is a savepoint to go back to. */
  private boolean lockOnPostgres(Connection connection, String name, Duration wait)
      throws SQLException {
    String before = setting(connection);
    Savepoint savepoint = connection.setSavepoint();
    setting(connection, Math.max(1, wait.toMillis()) + "ms");
    if (selectOrTimeOut(connection, name, files.statement("txlock_lock"))) {
      setting(connection, before);
      connection.releaseSavepoint(savepoint);
      return true;
    }
    // Undoes the setting too.
    connection.rollback(savepoint);
    connection.releaseSavepoint(savepoint);
    return false;
  }

  private String setting(Connection connection) throws SQLException {
    try (Statement read = connection.createStatement();
        ResultSet row = read.executeQuery(files.statement("wait_read"))) {
      row.next();
      return row.getString(1);
    }
  }

  private void setting(Connection connection, String value) throws SQLException {
    try (PreparedStatement write = connection.prepareStatement(files.statement("wait_write"))) {
      write.setString(1, value);
      write.executeQuery().close();
    }
  }

  private boolean lockOnMySql(Connection connection, String name, Duration wait)
      throws SQLException {
    try (Statement statement = connection.createStatement()) {
      long before;
      boolean timeoutEndsAll;
      try (ResultSet row = statement.executeQuery(files.statement("wait_read"))) {
        row.next();
        before = row.getLong(1);
        timeoutEndsAll = row.getBoolean(2);
      }
      statement.execute(waitOf((wait.toMillis() + 999) / 1000));
      SQLException trouble = null;
      try {
        String sql = files.statement("txlock_lock");
        if (!timeoutEndsAll) {
          return selectOrTimeOut(connection, name, sql);
        } else if (select(connection, name, sql)) {
          return true;
        }
        throw rows.gone(TABLE, name);
      } catch (SQLException e) {
        trouble = e;
        throw e;
      } finally {
        restore(statement, before, trouble);
      }
    }
  }

  private void restore(Statement statement, long before, @Nullable SQLException trouble)
      throws SQLException {
    try {
      statement.execute(waitOf(before));
    } catch (SQLException e) {
      if (trouble == null) {
        throw e;
      }
      trouble.addSuppressed(e);
    }
  }

  private String waitOf(long seconds) {
    return files.statement("wait_write", Map.of("seconds", Long.toString(Math.max(1, seconds))));
  }
}
