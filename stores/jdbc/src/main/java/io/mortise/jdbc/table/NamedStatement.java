package io.mortise.jdbc.table;

import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Types;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A prepared statement whose parameters are set by name; a name that it lacks is passed over. */
public final class NamedStatement implements AutoCloseable {
  private static final int[] NONE = {};

  private final PreparedStatement statement;
  private final Map<String, int[]> positions = new HashMap<>();

  public NamedStatement(Connection connection, SqlText.SqlStatement text) throws SQLException {
    this(connection.prepareStatement(text.sql()), text.parameters(), 0);
  }

  /**
   * A part of a statement.
   *
   * @param offset how many parameters stand before it
   */
  NamedStatement(PreparedStatement statement, List<String> names, int offset) {
    this.statement = statement;
    for (int i = 0; i < names.size(); i++) {
      int[] before = positions.getOrDefault(names.get(i), NONE);
      int[] after = java.util.Arrays.copyOf(before, before.length + 1);
      after[before.length] = offset + i + 1;
      positions.put(names.get(i), after);
    }
  }

  /** Whether it has such a parameter. */
  boolean has(String name) {
    return positions.containsKey(name);
  }

  public NamedStatement set(String name, long value) throws SQLException {
    for (int position : positions.getOrDefault(name, NONE)) {
      statement.setLong(position, value);
    }
    return this;
  }

  NamedStatement set(String name, boolean value) throws SQLException {
    return set(name, value ? 1 : 0);
  }

  public NamedStatement set(String name, @Nullable String value) throws SQLException {
    for (int position : positions.getOrDefault(name, NONE)) {
      if (value == null) {
        statement.setNull(position, Types.VARCHAR);
      } else {
        statement.setString(position, value);
      }
    }
    return this;
  }

  /**
   * Sets a list, wherever it stands, to as many values as the statement was made for; it begins
   * again where there are fewer.
   *
   * @param values strings, or longs
   */
  public NamedStatement set(String name, List<?> values) throws SQLException {
    int[] places = positions.getOrDefault(name, NONE);
    for (int i = 0; i < places.length; i++) {
      Object value = values.get(i % values.size());
      // Not setObject: drivers take long to find the type.
      if (value instanceof String string) {
        statement.setString(places[i], string);
      } else if (value instanceof Long number) {
        statement.setLong(places[i], number);
      } else {
        throw new IllegalArgumentException("In a list of " + name + ": " + value);
      }
    }
    return this;
  }

  /** One that gives the key that it generates. */
  static NamedStatement withKey(Connection connection, SqlText.SqlStatement text)
      throws SQLException {
    return new NamedStatement(
        connection.prepareStatement(text.sql(), PreparedStatement.RETURN_GENERATED_KEYS),
        text.parameters(),
        0);
  }

  /** An array of a type that the database knows by this name. */
  NamedStatement set(String name, String type, @Nullable Object[] values) throws SQLException {
    Array array = statement.getConnection().createArrayOf(type, values);
    for (int position : positions.getOrDefault(name, NONE)) {
      statement.setArray(position, array);
    }
    return this;
  }

  /** Takes the rows of one result of several. */
  @FunctionalInterface
  interface ResultReader {
    void read(int result, ResultSet rows) throws SQLException;
  }

  /** Runs a text of several statements, and hands over the results of its queries in order. */
  void run(ResultReader reader) throws SQLException {
    boolean hasRows = statement.execute();
    for (int result = 0; hasRows || statement.getUpdateCount() >= 0; ) {
      if (hasRows) {
        try (ResultSet rows = statement.getResultSet()) {
          reader.read(result++, rows);
        }
      }
      hasRows = statement.getMoreResults();
    }
  }

  /** Runs it; the number of rows that it changed. */
  public int update() throws SQLException {
    return statement.executeUpdate();
  }

  /** Runs it; on SQLite the statement ends only when the result is closed. */
  public ResultSet query() throws SQLException {
    return statement.executeQuery();
  }

  /** Runs it for so many rows at most. */
  public ResultSet query(int mostRows) throws SQLException {
    statement.setMaxRows(mostRows);
    return statement.executeQuery();
  }

  /** Has the database give it up after so many seconds, if the driver can. */
  public NamedStatement boundedBy(int seconds) throws SQLException {
    try {
      statement.setQueryTimeout(seconds);
    } catch (SQLFeatureNotSupportedException e) {
      return this;
    }
    return this;
  }

  /** Makes a value of a row. */
  @FunctionalInterface
  public interface RowReader<T> {
    T read(ResultSet row) throws SQLException;
  }

  /** Runs it; its first row, or null if it has none. */
  public <T> @Nullable T first(RowReader<T> reader) throws SQLException {
    try (ResultSet row = query()) {
      return row.next() ? reader.read(row) : null;
    }
  }

  /** Runs it; whether it has a row, and that says 1. */
  boolean isOne() throws SQLException {
    return Boolean.TRUE.equals(first(row -> row.getInt(1) == 1));
  }

  /** Runs it; all its rows. */
  <T> List<T> all(RowReader<T> reader) throws SQLException {
    List<T> all = new ArrayList<>();
    try (ResultSet row = query()) {
      while (row.next()) {
        all.add(reader.read(row));
      }
    }
    return all;
  }

  /** The key that the last run generated. */
  long key() throws SQLException {
    try (ResultSet row = statement.getGeneratedKeys()) {
      row.next();
      return row.getLong(1);
    }
  }

  @Override
  public void close() throws SQLException {
    statement.close();
  }
}
