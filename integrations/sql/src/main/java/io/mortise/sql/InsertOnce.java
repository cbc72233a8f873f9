package io.mortise.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An INSERT that tells whether this call made the row or another one was there before: the simplest
 * way to do something once, if doing it is the insert.
 *
 * <pre>{@code
 * boolean mine = InsertOnce.into("payment").value("order_id", 42).value("amount", amount)
 *     .execute(connection);
 * }</pre>
 *
 * <p>It relies on a primary key or unique constraint of the table; without one it always inserts. A
 * row that breaks any of the table's unique constraints counts as there. Every other fault is an
 * exception, unlike with MySQL's INSERT IGNORE, which also cuts values and skips bad rows.
 *
 * <p>Where a transaction keeps its snapshot (MySQL and MariaDB at REPEATABLE READ after a read, H2
 * at SERIALIZABLE), the row that was there first may not be visible to it yet. PostgreSQL above
 * READ COMMITTED answers 40001 then.
 *
 * <p>Not thread-safe; may be executed again.
 */
public final class InsertOnce {
  private final String table;
  private final Map<String, @Nullable Object> values = new LinkedHashMap<>();

  private InsertOnce(String table) {
    this.table = table;
  }

  /**
   * An insert into this table.
   *
   * @throws IllegalArgumentException if it is no name of a table
   */
  public static InsertOnce into(String table) {
    return new InsertOnce(SqlFiles.table(table));
  }

  /**
   * Gives a column its value.
   *
   * @throws IllegalArgumentException if it is no name of a column
   */
  public InsertOnce value(String column, @Nullable Object value) {
    values.put(SqlFiles.column(column), value);
    return this;
  }

  /**
   * Inserts, unless a row with the same key is there. Blocks for one round trip, and while another
   * transaction that inserted the same key is open. Works with and without autocommit; the
   * transaction stays usable, and is not committed.
   *
   * @return whether this call inserted the row; with autocommit off it counts once you commit
   * @throws IllegalStateException if no value was given
   * @throws SQLException if the database fails or refuses; whether the row is there is unknown if
   *     the connection broke. MySQL and MariaDB may report a deadlock if the first of three or more
   *     inserters rolls back: repeat the transaction
   */
  public boolean execute(Connection connection) throws SQLException {
    if (values.isEmpty()) {
      throw new IllegalStateException(
          "No value was given for table '" + table + "'. Call value(column, value).");
    }
    SqlFiles files = SqlFiles.of(connection);
    String marks = String.join(", ", Collections.nCopies(values.size(), "?"));
    Map<String, String> parts =
        Map.of("table", table, "columns", String.join(", ", values.keySet()), "values", marks);
    try {
      return files.statement(connection, "insert_once", parts).addAll(values.values()).update()
          == 1;
    } catch (SQLException e) {
      if (files.dialect().isDuplicate(e)) {
        return false;
      }
      throw e;
    }
  }
}
