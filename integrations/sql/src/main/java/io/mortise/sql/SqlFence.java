package io.mortise.sql;

import io.mortise.FencingToken;
import io.mortise.Lease;
import io.mortise.StaleTokenException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.OptionalLong;

/**
 * Admits only the current holder of a lock to a transaction. Each lock has one row, with the latest
 * token seen and its holder.
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
 * every transaction on the data enters. If the isolation level would show older data after the
 * wait, the transaction is refused: PostgreSQL above READ COMMITTED answers 40001, to be repeated;
 * H2 at SERIALIZABLE and SNAPSHOT does not detect it, so there the helper refuses. The price: a
 * holder paused inside its transaction keeps its successor waiting until the database ends that
 * transaction; configure a timeout for idle ones. It can guard any data in this database; for
 * single rows there is {@link FencedUpdate}, which needs no row of its own.
 *
 * <p>Tokens of one lock only are compared. Two stores with locks of one name need two tables
 * ({@link SqlHelperOptions#withPrefix}). Thread-safe; the connections are the caller's.
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
   * @throws io.mortise.LeaseInDoubtException if it is in doubt, after a restart of its store
   * @throws IllegalStateException if autocommit is on, the lease is not exclusive, or on H2 the
   *     isolation level is SERIALIZABLE or SNAPSHOT
   */
  public void enter(Connection connection, Lease lease) throws SQLException {
    enter(connection, lease.fencingToken());
  }

  /**
   * Installs the token, so that earlier ones are refused from now on, and keeps others that enter
   * waiting until the transaction ends. Call it first in the transaction: earlier reads are not
   * guarded. May be called again, in this transaction or another, with the same token. If the
   * transaction is rolled back, so is the token, and an earlier holder may still enter: enter again
   * before you read again.
   *
   * <p>Blocks for one round trip, a few more on the first use of the lock's name by this process,
   * and while another transaction that entered is open. On PostgreSQL above READ COMMITTED, a
   * transaction that had to wait is then refused (40001), as it would read older data.
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
    byte[] lock = HelperRowCreator.bytes(token.lock());
    int written =
        files
            .statement(connection, "fence_write")
            .add(token.value(), token.holder(), lock)
            .add(token.value(), token.value(), token.holder())
            .update();
    if (written == 1) {
      return;
    }
    LatestToken seen = files.statement(connection, "fence_lock").add(lock).first(LatestToken::read);
    if (seen == null) {
      throw rows.gone(TABLE, token.lock());
    }
    seen.refuseUnless(token, "fence '" + files.prefix() + TABLE + "'");
  }

  /**
   * The latest token seen for a lock, as the transaction sees it; for display, and for moving to
   * another store. Base no decision on it: it may have risen meanwhile. Blocks for one round trip,
   * two on the first use of the lock's name by this process.
   *
   * @return empty if there is none yet
   * @throws SQLException if the database fails
   */
  public OptionalLong latest(Connection connection, String lock) throws SQLException {
    if (!rows.has(TABLE, lock)) {
      return OptionalLong.empty();
    }
    Long latest =
        files
            .statement(connection, "fence_read")
            .add(HelperRowCreator.bytes(lock))
            .first(row -> row.getLong(1));
    return latest == null || latest == 0 ? OptionalLong.empty() : OptionalLong.of(latest);
  }
}
