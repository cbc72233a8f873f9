package io.mortise.sql;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.UnsupportedByStoreException;
import io.mortise.spi.time.Ticker;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The helpers that keep rows in tables of their own: {@link SqlFence}, {@link TransactionLocks},
 * {@link TransactionOnce}. One per database and process; thread-safe.
 *
 * <p>It takes one connection from the data source when it first needs one, and keeps it until
 * {@link #close()}: rows are made there, apart from your transactions. Where the pool gives none
 * within a second, they are made in your transaction, behind a savepoint.
 *
 * <p>The tables are in {@code META-INF/mortise/<database>/helpers.sql} of the jar, and are made by
 * {@link #open} unless forbidden. Databases: PostgreSQL 12, MySQL 8.0.17, MariaDB 10.6, H2 2.2.220,
 * SQLite 3.24, and later.
 */
public final class SqlHelpers implements AutoCloseable {
  private final DedicatedConnection own;
  private final SqlFence fence;
  private final SqlFiles files;
  private final HelperRowCreator rows;

  private SqlHelpers(SqlFiles files, DedicatedConnection own) {
    this.files = files;
    this.own = own;
    this.rows = new HelperRowCreator(files, own);
    this.fence = new SqlFence(files, rows);
  }

  /** As {@link #open(DataSource, SqlHelperOptions)} with {@link SqlHelperOptions#DEFAULTS}. */
  public static SqlHelpers open(DataSource dataSource) {
    return open(dataSource, SqlHelperOptions.DEFAULTS);
  }

  /**
   * Opens the helpers in a database. Blocks.
   *
   * @throws IllegalArgumentException if the prefix is none
   * @throws StoreUnavailableException if the database cannot be reached
   * @throws StoreUnfitException if a table is missing and may not or cannot be made
   * @throws UnsupportedByStoreException if the helpers do not know the database
   */
  public static SqlHelpers open(DataSource dataSource, SqlHelperOptions options) {
    DedicatedConnection own = new DedicatedConnection(dataSource, Ticker.SYSTEM);
    try {
      SqlFiles files = new SqlFiles(own.call(HelperDialect::of), options.prefix());
      own.run(connection -> prepare(connection, files, options.createTables()));
      return new SqlHelpers(files, own);
    } catch (SQLException e) {
      own.close();
      throw new StoreUnavailableException(
          "The database of the SQL helpers cannot be used: " + e.getMessage(), e);
    } catch (RuntimeException e) {
      own.close();
      throw e;
    }
  }

  private static void prepare(Connection connection, SqlFiles files, boolean create)
      throws SQLException {
    if (isThere(connection, files)) {
      return;
    }
    if (!create) {
      throw missing(files, null);
    }
    try (Statement statement = connection.createStatement()) {
      for (String ddl : files.schema()) {
        make(statement, ddl);
      }
    } catch (SQLException e) {
      throw missing(files, e);
    }
  }

  private static void make(Statement statement, String ddl) throws SQLException {
    try {
      statement.execute(ddl);
    } catch (SQLException e) {
      // Another process made the same at this moment, which IF NOT EXISTS may trip over.
      statement.execute(ddl);
    }
  }

  private static boolean isThere(Connection connection, SqlFiles files) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (String table : new String[] {"fence", "txlock", "once"}) {
        statement
            .executeQuery(files.statement("table_find", Map.of("table", files.prefix() + table)))
            .close();
      }
      return true;
    } catch (SQLException e) {
      if (connection.isValid(2)) {
        return false;
      }
      throw e;
    }
  }

  private static StoreUnfitException missing(SqlFiles files, @Nullable SQLException cause) {
    String message =
        "A table '"
            + files.prefix()
            + "…' of the SQL helpers is missing"
            + (cause == null
                ? ", and the options forbid to make it"
                : " and could not be made: " + cause.getMessage())
            + ". Make the tables from META-INF/mortise/"
            + files.dialect().folder()
            + "/helpers.sql of the sql module, or set the prefix.";
    return cause == null
        ? new StoreUnfitException(message)
        : new StoreUnfitException(message, cause);
  }

  /** The guard against stale holders, for whole transactions. */
  public SqlFence fence() {
    return fence;
  }

  /**
   * Locks that last until the transaction ends.
   *
   * @throws UnsupportedByStoreException if the database has no row locks (SQLite)
   */
  public TransactionLocks transactionLocks() {
    return new TransactionLocks(files, rows);
  }

  /** Work that is done exactly once, in the transaction that does it. */
  public TransactionOnce once() {
    return new TransactionOnce(files, rows, own, 0);
  }

  /** Closes the helpers' own connection. Locks of your transactions stay held. */
  @Override
  public void close() {
    own.close();
  }
}
