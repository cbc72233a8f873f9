package io.mortise.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An UPDATE of one row that nobody else has changed since it was read: no lock is held meanwhile, a
 * version column tells. For short and rarely contended changes.
 *
 * <pre>{@code
 * ALTER TABLE account ADD COLUMN version BIGINT NOT NULL DEFAULT 0;
 *
 * Outcome outcome = VersionedUpdate.of("account").set("balance", read.balance() - 10).where("id", 42)
 *     .execute(connection, read.version());
 * }</pre>
 *
 * <p>It protects this row only, and only from writers that raise its version too: a plain UPDATE is
 * not noticed. What follows from several rows needs a lock or a serializable transaction. To try
 * again after {@link Stale}, read anew first: see {@link OptimisticRetry}.
 *
 * <p>Not thread-safe; may be executed again.
 */
public final class VersionedUpdate {
  private final RowTarget row;
  private String versionColumn = "version";

  private VersionedUpdate(RowTarget row) {
    this.row = row;
  }

  /** What became of an update. */
  public sealed interface Outcome permits Updated, Stale, Missing {}

  /**
   * Written; the row now has this version.
   *
   * @param newVersion what was expected plus one
   */
  public record Updated(long newVersion) implements Outcome {}

  /**
   * Not written: somebody else has changed the row.
   *
   * @param currentVersion the row's; it may have risen further
   */
  public record Stale(long currentVersion) implements Outcome {}

  /** Not written: there is no such row. */
  public record Missing() implements Outcome {}

  /**
   * An update of one row of this table.
   *
   * @throws IllegalArgumentException if it is no name of a table
   */
  public static VersionedUpdate of(String table) {
    return new VersionedUpdate(new RowTarget(table));
  }

  /**
   * Sets a column to a value.
   *
   * @throws IllegalArgumentException if it is no name of a column
   */
  public VersionedUpdate set(String column, @Nullable Object value) {
    row.set(column, value);
    return this;
  }

  /**
   * Names the row by a column of its key; at least once, and so that one row has the key.
   *
   * @throws IllegalArgumentException if it is no name of a column
   */
  public VersionedUpdate where(String column, Object value) {
    row.where(column, value);
    return this;
  }

  /**
   * Another column than {@code version} (64 bits, not null).
   *
   * @throws IllegalArgumentException if it is no name of a column
   */
  public VersionedUpdate version(String column) {
    this.versionColumn = SqlFiles.column(column);
    return this;
  }

  /**
   * Writes if the row still has this version, and raises it by one. Blocks for one round trip, two
   * if nothing was written, and for as long as another transaction has the row. Works with and
   * without autocommit, and does not commit: until you do, the write can still be rolled back.
   *
   * @throws IllegalStateException if no key was given, or several rows have it; in the second case
   *     they were written
   * @throws SQLException if the database fails or refuses, also for a conflict that its isolation
   *     level does not allow; whether it wrote is unknown if the connection broke
   */
  public Outcome execute(Connection connection, long expectedVersion) throws SQLException {
    SqlFiles files = SqlFiles.of(connection);
    Map<String, String> parts = new HashMap<>(row.parts());
    parts.put("version", versionColumn);
    int rows =
        files
            .statement(connection, "versioned_update", parts)
            .addAll(row.set.values())
            .addAll(row.where.values())
            .add(expectedVersion)
            .update();
    row.checkOne(rows);
    if (rows == 1) {
      return new Updated(expectedVersion + 1);
    }
    Stale stale =
        files
            .statement(connection, "versioned_read", parts)
            .addAll(row.where.values())
            .first(found -> new Stale(found.getLong(1)));
    return stale == null ? new Missing() : stale;
  }
}
