package io.mortise.sql;

import io.mortise.LockName;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;

/**
 * A lock of a transaction. Useful for its {@link #token()} only: there is nothing to close. Belongs
 * to the transaction's thread.
 */
public final class TransactionLock {
  private final SqlFiles files;
  private final Connection connection;
  private final String name;
  private long token;

  TransactionLock(SqlFiles files, Connection connection, String name) {
    this.files = files;
    this.connection = connection;
    this.name = name;
  }

  /** The lock's name. */
  public String name() {
    return name;
  }

  /**
   * A token greater than those of all earlier transactions that committed one under this lock; the
   * same at each call. Blocks for two round trips at the first call. Make that call while the
   * transaction is open: after the commit it would begin a new transaction, and that one takes the
   * lock.
   *
   * <p>The token is committed with the transaction: <b>a rollback takes it back</b>, and the
   * database keeps no trace of it. It is the greater of the last one plus one and the database's
   * time in microseconds, so the next holder still gets another unless the database's clock was set
   * back meanwhile. Use it outside this database only after the commit.
   *
   * @throws SQLException if the database fails; roll back
   */
  public long token() throws SQLException {
    if (token == 0) {
      byte[] row = HelperRowCreator.bytes(name);
      if (files.statement(connection, "txlock_mint").add(row).update() != 1) {
        throw new IllegalStateException(
            "The transaction that had lock '"
                + LockName.of(name)
                + "' is over, and its row was deleted.");
      }
      token =
          Objects.requireNonNull(
              files.statement(connection, "txlock_token").add(row).first(read -> read.getLong(1)));
    }
    return token;
  }

  @Override
  public String toString() {
    return "TransactionLock[" + name + "]";
  }
}
