package io.mortise.sql;

import io.mortise.FencingToken;
import io.mortise.Lease;
import io.mortise.StaleTokenException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.HashMap;
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

  private final RowTarget row;
  private String tokenColumn = "fence_token";
  private String holderColumn = "fence_holder";

  private FencedUpdate(RowTarget row) {
    this.row = row;
  }

  /**
   * An update of one row of this table.
   *
   * @throws IllegalArgumentException if it is no name of a table
   */
  public static FencedUpdate of(String table) {
    return new FencedUpdate(new RowTarget(table));
  }

  /**
   * Sets a column to a value.
   *
   * @throws IllegalArgumentException if it is no name of a column
   */
  public FencedUpdate set(String column, @Nullable Object value) {
    row.set(column, value);
    return this;
  }

  /**
   * Names the row by a column of its key; at least once, and so that one row has the key.
   *
   * @throws IllegalArgumentException if it is no name of a column
   */
  public FencedUpdate where(String column, Object value) {
    row.where(column, value);
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
    if (row.set.isEmpty()) {
      files
          .dialect()
          .refuseOldSnapshot(
              connection,
              "A fenced update that sets nothing",
              Connection.TRANSACTION_READ_COMMITTED);
    }
    Map<String, String> parts = new HashMap<>(row.parts());
    parts.put("token", tokenColumn);
    parts.put("holder", holderColumn);
    int rows =
        files
            .statement(connection, "fenced_update", parts)
            .addAll(row.set.values())
            .add(token.value(), token.holder())
            .addAll(row.where.values())
            .add(token.value(), token.value(), token.holder())
            .update();
    row.checkOne(rows);
    return rows == 1 || isThere(connection, files, parts, token);
  }

  private boolean isThere(
      Connection connection, SqlFiles files, Map<String, String> parts, FencingToken token)
      throws SQLException {
    SeenToken seen =
        files
            .statement(connection, "fenced_read", parts)
            .addAll(row.where.values())
            .first(SeenToken::read);
    if (seen != null) {
      seen.refuseUnless(token, row.toString());
    }
    return seen != null;
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
