package io.mortise.sql;

import io.mortise.FencingToken;
import io.mortise.Lease;
import io.mortise.StaleTokenException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.OptionalLong;

/**
 * Lets the current holder of a lock into a transaction, and nobody that held it before. For each
 * lock there is one row, with the latest token that was shown and by whom.
 *
 * <pre>{@code
 * connection.setAutoCommit(false);
 * fence.enter(connection, lease);      // first: before anything is read
 * …read and write what the lock guards…
 * connection.commit();
 * }</pre>
 *
 * <p>{@link #enter} locks that row until the transaction ends. So transactions that enter follow
 * one another; a stale holder is refused; and one that entered while it was still current is waited
 * for before its successor reads. That holds without any assumption about clocks, provided that
 * every transaction on the data enters. Where the isolation level shows a transaction that waited
 * what was there before, it is refused: PostgreSQL above READ COMMITTED answers 40001, to be
 * repeated; H2 at SERIALIZABLE and SNAPSHOT cannot tell, so there the helper refuses. The price: a
 * holder that is stopped inside its transaction keeps its successor waiting until the database ends
 * that transaction; have it end idle ones. What is guarded can be anything in this database; only
 * to guard single rows there is {@link FencedUpdate}, which needs no row of its own.
 *
 * <p>Tokens of one lock only are compared. Two stores with locks of one name need two tables
 * ({@link SqlHelpers.Options#withPrefix}). Thread-safe; the connections are the caller's.
 */
public final class SqlFence {
  private static final String TABLE = "fence";

  private final SqlFiles files;
  private final HelperRowCreator rows;

  SqlFence(SqlFiles files, HelperRowCreator rows) {
    this.files = files;
    this.rows = rows;
  }

  /**
   * As {@link #enter(Connection, FencingToken)}.
   *
   * @throws io.mortise.LeaseLostException if the lease is lost
   * @throws IllegalStateException if autocommit is on, the lease is not exclusive, or on H2 the
   *     isolation level is SERIALIZABLE or SNAPSHOT
   */
  public void enter(Connection connection, Lease lease) throws SQLException {
    enter(connection, lease.fencingToken());
  }

  /**
   * Installs the token, so that earlier ones are refused from now on, and keeps others that enter
   * waiting until the transaction ends. Call it first in the transaction: what was read before is
   * not guarded. May be called again, in this transaction or another, with the same token. If the
   * transaction is rolled back, so is the token, and an earlier holder may still enter: enter again
   * before you read again.
   *
   * <p>Blocks for one round trip, a few more on the first use of the lock's name by this process,
   * and while another transaction that entered is open. On PostgreSQL above READ COMMITTED, a
   * transaction that had to wait is then refused (40001), as it would read what was there before.
   *
   * @throws StaleTokenException if a later token was seen, or the same from another holder; roll
   *     back
   * @throws IllegalStateException if autocommit is on, or on H2 the isolation level is SERIALIZABLE
   *     or SNAPSHOT
   * @throws SQLException if the database fails or refuses: a deadlock, the end of its own lock
   *     wait, a conflict that its isolation level does not allow; roll back
   */
  public void enter(Connection connection, FencingToken token) throws SQLException {
    HelperRowCreator.requireTransaction(connection, "A fence");
    files
        .dialect()
        .refuseOldSnapshot(connection, "A fence", Connection.TRANSACTION_REPEATABLE_READ);
    rows.ensure(TABLE, connection, token.lock());
    try (PreparedStatement write = connection.prepareStatement(files.statement("fence_write"))) {
      new PositionalBinder(write)
          .add(token.value())
          .add(token.holder())
          .add(HelperRowCreator.bytes(token.lock()))
          .add(token.value())
          .add(token.value())
          .add(token.holder());
      if (write.executeUpdate() == 1) {
        return;
      }
    }
    refuseUnlessThere(connection, token);
  }

  private void refuseUnlessThere(Connection connection, FencingToken token) throws SQLException {
    try (PreparedStatement lock = connection.prepareStatement(files.statement("fence_lock"))) {
      lock.setBytes(1, HelperRowCreator.bytes(token.lock()));
      try (ResultSet row = lock.executeQuery()) {
        if (!row.next()) {
          throw rows.gone(TABLE, token.lock());
        }
        long seen = row.getLong(1);
        String holder = String.valueOf(row.getString(2));
        // MySQL may count changed rows only: then zero of ours means that all was as it should be.
        if (seen != token.value() || !holder.equals(token.holder())) {
          throw new StaleTokenException(
              "fence '" + files.prefix() + TABLE + "'", token, seen, holder);
        }
      }
    }
  }

  /**
   * The latest token that was shown for a lock, as the transaction sees it; for people, and for
   * moving to another store. Decides nothing: it may have risen meanwhile. Blocks for one round
   * trip, two on the first use of the lock's name by this process.
   *
   * @return empty if none was shown yet
   * @throws SQLException if the database fails
   */
  public OptionalLong latest(Connection connection, String lock) throws SQLException {
    if (!rows.has(TABLE, lock)) {
      return OptionalLong.empty();
    }
    try (PreparedStatement read = connection.prepareStatement(files.statement("fence_read"))) {
      read.setBytes(1, HelperRowCreator.bytes(lock));
      try (ResultSet row = read.executeQuery()) {
        return row.next() && row.getLong(1) > 0
            ? OptionalLong.of(row.getLong(1))
            : OptionalLong.empty();
      }
    }
  }
}
