package io.mortise.sql;

import io.mortise.FencingToken;
import io.mortise.Lease;
import io.mortise.StaleTokenException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An UPDATE of one row that keeps a fence itself, in two columns of its own: check and write are
 * one statement, so no holder that has lost its lock gets in between.
 *
 * <pre>{@code
 * ALTER TABLE invoice ADD COLUMN fence_token BIGINT NOT NULL DEFAULT 0;
 * ALTER TABLE invoice ADD COLUMN fence_holder VARCHAR(64) NOT NULL DEFAULT '';
 *
 * boolean found = FencedUpdate.of("invoice").set("total", total).where("id", 42)
 *     .execute(connection, lease);
 * }</pre>
 *
 * <p>It guards writes. A holder that <em>reads first</em> and writes what follows from it has to
 * install its token before the read, else an earlier holder can still write in between: execute an
 * update that sets nothing, or use {@link SqlFence}, then read. On H2 do so at READ COMMITTED. For
 * SQL that does not fit here there are {@link #ASSIGNMENT} and {@link #CONDITION}.
 *
 * <p>A row has one fence, hence one lock that guards it. Not thread-safe; may be executed again.
 */
public final class FencedUpdate {
  /** For the SET clause of SQL of your own; two parameters, see {@link #bindAssignment}. */
  public static final String ASSIGNMENT = "fence_token = ?, fence_holder = ?";

  /** For the WHERE clause of SQL of your own; three parameters, see {@link #bindCondition}. */
  public static final String CONDITION =
      "(fence_token < ? OR (fence_token = ? AND fence_holder = ?))";

  private final String table;
  private final Map<String, @Nullable Object> values = new LinkedHashMap<>();
  private final Map<String, Object> key = new LinkedHashMap<>();
  private String tokenColumn = "fence_token";
  private String holderColumn = "fence_holder";

  private FencedUpdate(String table) {
    this.table = table;
  }

  /**
   * An update of one row of this table.
   *
   * @throws IllegalArgumentException if it is no name of a table
   */
  public static FencedUpdate of(String table) {
    return new FencedUpdate(SqlFiles.table(table));
  }

  /**
   * Sets a column to a value.
   *
   * @throws IllegalArgumentException if it is no name of a column
   */
  public FencedUpdate set(String column, @Nullable Object value) {
    values.put(SqlFiles.column(column), value);
    return this;
  }

  /**
   * Names the row by a column of its key; at least once, and so that one row has the key.
   *
   * @throws IllegalArgumentException if it is no name of a column
   */
  public FencedUpdate where(String column, Object value) {
    key.put(SqlFiles.column(column), value);
    return this;
  }

  /**
   * Other columns than {@code fence_token} (64 bits) and {@code fence_holder} (64 characters).
   *
   * @throws IllegalArgumentException if one is no name of a column
   */
  public FencedUpdate fence(String token, String holder) {
    this.tokenColumn = SqlFiles.column(token);
    this.holderColumn = SqlFiles.column(holder);
    return this;
  }

  /**
   * As {@link #execute(Connection, FencingToken)}.
   *
   * @throws io.mortise.LeaseLostException if the lease is lost
   * @throws io.mortise.LeaseInDoubtException if it is in doubt, after a restart of its store
   * @throws IllegalStateException if the lease is not exclusive
   */
  public boolean execute(Connection connection, Lease lease) throws SQLException {
    return execute(connection, lease.fencingToken());
  }

  /**
   * Writes, unless the row has seen a later token. Blocks for one round trip, two if nothing was
   * written, and for as long as another transaction has the row. Works with and without autocommit,
   * and does not commit.
   *
   * @return false if there is no such row
   * @throws StaleTokenException if the row has seen a later token; nothing was written
   * @throws IllegalStateException if no key was given, or several rows have it, and then they were
   *     written; or if nothing is set, on H2 above READ COMMITTED
   * @throws SQLException if the database fails or refuses; whether it wrote is unknown if the
   *     connection broke
   */
  public boolean execute(Connection connection, FencingToken token) throws SQLException {
    SqlFiles files = SqlFiles.of(connection);
    if (values.isEmpty()) {
      files
          .dialect()
          .refuseOldSnapshot(
              connection,
              "A fenced update that sets nothing",
              Connection.TRANSACTION_READ_COMMITTED);
    }
    Map<String, String> parts = parts();
    int rows =
        files
            .statement(connection, "fenced_update", parts)
            .addAll(values.values())
            .add(token.value(), token.holder())
            .addAll(key.values())
            .add(token.value(), token.value(), token.holder())
            .update();
    if (rows > 1) {
      throw new IllegalStateException(
          "The key given for table '%s' is that of %s rows, and all were written. Roll back, and name a unique key in where(…)."
              .formatted(table, rows));
    }
    return rows == 1 || isThere(connection, files, parts, token);
  }

  /** The names in braces of a statement; every assignment ends in a comma. */
  private Map<String, String> parts() {
    if (key.isEmpty()) {
      throw new IllegalStateException(
          "The update of table '" + table + "' names no row. Call where(column, value).");
    }
    return Map.of(
        "table",
        table,
        "assignments",
        values.isEmpty() ? "" : SqlFiles.equalities(values.keySet(), ", ") + ", ",
        "keys",
        SqlFiles.equalities(key.keySet(), " AND "),
        "token",
        tokenColumn,
        "holder",
        holderColumn);
  }

  private boolean isThere(
      Connection connection, SqlFiles files, Map<String, String> parts, FencingToken token)
      throws SQLException {
    LatestToken seen =
        files
            .statement(connection, "fenced_read", parts)
            .addAll(key.values())
            .first(LatestToken::read);
    if (seen != null) {
      seen.refuseUnless(token, "row " + table + key(key));
    }
    return seen != null;
  }

  private static List<String> key(Map<String, Object> columns) {
    return columns.entrySet().stream().map(each -> each.getKey() + "=" + each.getValue()).toList();
  }

  /**
   * Sets the parameters of {@link #ASSIGNMENT}, beginning at this index.
   *
   * @return the index of the parameter after them
   */
  public static int bindAssignment(PreparedStatement statement, int index, FencingToken token)
      throws SQLException {
    statement.setLong(index, token.value());
    statement.setString(index + 1, token.holder());
    return index + 2;
  }

  /**
   * Sets the parameters of {@link #CONDITION}, beginning at this index.
   *
   * @return the index of the parameter after them
   */
  public static int bindCondition(PreparedStatement statement, int index, FencingToken token)
      throws SQLException {
    statement.setLong(index, token.value());
    statement.setLong(index + 1, token.value());
    statement.setString(index + 2, token.holder());
    return index + 3;
  }
}
