package io.mortise.sql;

import io.mortise.internal.queue.BoundedMap;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransactionRollbackException;
import java.sql.Savepoint;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Makes rows of the helpers' tables, on first use, before the user's transaction touches them.
 *
 * <p>Not in that transaction. There, an inserted row makes all others wait for its commit, even
 * callers that do not want to wait. And on MySQL, reading a missing row with FOR UPDATE locks its
 * gap, so that two transactions that do so and then insert deadlock. A row that was committed apart
 * avoids both. SQLite is the exception: it has one writer, so the row is made in the transaction,
 * which is that writer from then on. If the helpers' own connection is not available, the row is
 * made in the transaction too, since the pool may wait for this very transaction.
 */
final class HelperRowCreator {
  private static final int REMEMBERED = 10_000;

  private final SqlFiles files;
  private final DedicatedConnection own;
  private final Set<String> known =
      Collections.synchronizedSet(Collections.newSetFromMap(new BoundedMap<>(REMEMBERED)));

  HelperRowCreator(SqlFiles files, DedicatedConnection own) {
    this.files = files;
    this.own = own;
  }

  /** Ensures that the table has a row of this name. */
  void ensure(String table, Connection user, String name) throws SQLException {
    if (files.dialect() == HelperDialect.SQLITE) {
      insert(user, table, name);
    } else if (!known.contains(table + name)) {
      if (own.tryCall(connection -> make(connection, table, name)).isPresent()) {
        known.add(table + name);
      } else {
        makeWithin(user, table, name);
      }
    }
  }

  /**
   * An error would end the whole transaction of PostgreSQL. The row is not cached as known: a
   * rollback removes it.
   */
  private void makeWithin(Connection user, String table, String name) throws SQLException {
    if (exists(user, table, name)) {
      return;
    }
    Savepoint savepoint = user.setSavepoint();
    try {
      insert(user, table, name);
    } catch (SQLException e) {
      user.rollback(savepoint);
      if (!files.dialect().isDuplicate(e)) {
        throw e;
      }
    }
    user.releaseSavepoint(savepoint);
  }

  /**
   * Whether the table has a row of this name; for statements in the user's transaction that do not
   * need one. MySQL and MariaDB lock the gap of a missing row when it is read, and then the row
   * could not be made apart while that transaction is open.
   */
  boolean has(String table, String name) throws SQLException {
    if (files.dialect() == HelperDialect.SQLITE || known.contains(table + name)) {
      return true;
    }
    Optional<Boolean> there = own.tryCall(connection -> exists(connection, table, name));
    if (there.orElse(false)) {
      known.add(table + name);
    }
    // Without a connection of its own, the user's statement finds out.
    return there.orElse(true);
  }

  /** Makes the row. Returns true once it exists. */
  private boolean make(Connection connection, String table, String name) throws SQLException {
    if (exists(connection, table, name)) {
      return true;
    }
    try {
      insert(connection, table, name);
    } catch (SQLException e) {
      // Another process made it at this moment; perhaps it is in use already, and we had to wait.
      if (!exists(connection, table, name)) {
        throw files.dialect().isLockTimeout(e) ? placeLocked(table, name, e) : e;
      }
    }
    return true;
  }

  /** Whether this connection sees the row, as far as its transaction sees anything new. */
  boolean exists(Connection connection, String table, String name) throws SQLException {
    return files
        .statement(connection, "row_find", Map.of("table", files.prefix() + table))
        .add(bytes(name))
        .hasRow();
  }

  private void insert(Connection connection, String table, String name) throws SQLException {
    files.statement(connection, table + "_make").add(bytes(name)).update();
  }

  private SQLException placeLocked(String table, String name, SQLException cause) {
    return new SQLTransactionRollbackException(
        "The row of '"
            + name
            + "' could not be made in table '"
            + files.prefix()
            + table
            + "': a transaction, perhaps this one, keeps its place locked. Roll back and repeat the transaction.",
        "40001",
        cause);
  }

  /** The row is invisible, though it was made: the exception for the user's transaction. */
  SQLException gone(String table, String name) {
    known.remove(table + name);
    return new SQLTransactionRollbackException(
        "The row of '"
            + name
            + "' in table '"
            + files.prefix()
            + table
            + "' was made after this transaction began to read, or deleted. Roll back and repeat the transaction.",
        "40001");
  }

  static byte[] bytes(String name) {
    return name.getBytes(StandardCharsets.UTF_8);
  }

  /**
   * Refuses a connection on which a lock would end at once.
   *
   * @throws IllegalStateException if autocommit is on
   */
  static void requireTransaction(Connection connection, String what) throws SQLException {
    if (connection.getAutoCommit()) {
      throw new IllegalStateException(
          what
              + " holds until the transaction ends, but autocommit is on: every statement is a transaction of its own."
              + " Call setAutoCommit(false), or begin a transaction, first.");
    }
  }
}
