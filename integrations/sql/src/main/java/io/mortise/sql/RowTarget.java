package io.mortise.sql;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One row of a user's table, and what is to be written to it. Not thread-safe. */
final class RowTarget {
  final String table;
  final Map<String, @Nullable Object> set = new LinkedHashMap<>();
  final Map<String, Object> where = new LinkedHashMap<>();

  RowTarget(String table) {
    this.table = SqlFiles.table(table);
  }

  void set(String column, @Nullable Object value) {
    set.put(SqlFiles.column(column), value);
  }

  void where(String column, Object value) {
    where.put(SqlFiles.column(column), value);
  }

  /** The names in braces of a statement; every assignment ends in a comma. */
  Map<String, String> parts() {
    if (where.isEmpty()) {
      throw new IllegalStateException(
          "Which row of table '" + table + "' is meant was not said. Call where(column, value).");
    }
    String assignments = set.isEmpty() ? "" : SqlFiles.equalities(set.keySet(), ", ") + ", ";
    return Map.of(
        "table",
        table,
        "assignments",
        assignments,
        "keys",
        SqlFiles.equalities(where.keySet(), " AND "));
  }

  /** One row at most, or what was written is more than was meant. */
  void checkOne(int rows) {
    if (rows > 1) {
      throw new IllegalStateException(
          "The key given for table '%s' is that of %s rows, and all were written. Roll back, and name a unique key in where(…)."
              .formatted(table, rows));
    }
  }

  @Override
  public String toString() {
    List<String> key = new ArrayList<>();
    where.forEach((column, value) -> key.add(column + "=" + value));
    return "row " + table + key;
  }
}
