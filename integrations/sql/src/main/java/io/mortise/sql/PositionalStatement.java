package io.mortise.sql;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A statement with its parameters, set one after the other; prepared each time it runs. */
final class PositionalStatement {
  private final Connection connection;
  private final String sql;
  private final List<@Nullable Object> values = new ArrayList<>();

  PositionalStatement(Connection connection, String sql) {
    this.connection = connection;
    this.sql = sql;
  }

  /** A string, a number, bytes, a date: whatever the driver takes. */
  PositionalStatement add(Object... more) {
    values.addAll(List.of(more));
    return this;
  }

  PositionalStatement addAll(Collection<? extends @Nullable Object> more) {
    values.addAll(more);
    return this;
  }

  /** Runs it; how many rows it changed. */
  int update() throws SQLException {
    try (PreparedStatement statement = prepare()) {
      return statement.executeUpdate();
    }
  }

  /** Makes a value of a row. */
  @FunctionalInterface
  interface RowFunction<T> {
    T read(ResultSet row) throws SQLException;
  }

  /** Runs it; its first row, or null if it has none. */
  <T> @Nullable T first(RowFunction<T> reader) throws SQLException {
    try (PreparedStatement statement = prepare();
        ResultSet row = statement.executeQuery()) {
      return row.next() ? reader.read(row) : null;
    }
  }

  /** Runs it; whether it has a row. */
  boolean hasRow() throws SQLException {
    return first(row -> true) != null;
  }

  private PreparedStatement prepare() throws SQLException {
    PreparedStatement statement = connection.prepareStatement(sql);
    try {
      for (int i = 0; i < values.size(); i++) {
        Object value = values.get(i);
        if (value == null) {
          statement.setNull(i + 1, Types.NULL);
        } else if (value instanceof byte[] bytes) {
          statement.setBytes(i + 1, bytes);
        } else {
          statement.setObject(i + 1, value);
        }
      }
      return statement;
    } catch (SQLException e) {
      statement.close();
      throw e;
    }
  }
}
