package io.mortise.jdbc.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.spi.AttemptId;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The tables of a database with another prefix, empty at first, and its statements, each by itself
 * and with any values. Rows are maps of columns, with long numbers.
 */
public final class TestTables implements AutoCloseable {
  public static final String NAMESPACE = "one";
  private static final String PREFIX = "rows_";

  public final Connection connection;
  public final SqlText text;

  public TestTables(Connection connection, String... folders) throws SQLException {
    this.connection = connection;
    this.text = new SqlText(List.of(folders), PREFIX);
    for (String ddl : text.schema()) {
      execute(ddl);
    }
    for (String table : List.of("meta", "session", "lock", "hold", "wait", "news", "fact")) {
      execute("DELETE FROM " + text.table(table));
    }
  }

  public void execute(String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /** One of the statements, with the values of its parameters: name, value, name, value. */
  NamedStatement statement(String name, Object... values) throws SQLException {
    int size = 1;
    for (Object value : values) {
      size = value instanceof List<?> list ? list.size() : size;
    }
    return bind(new NamedStatement(connection, text.statement(name, size)), values);
  }

  static NamedStatement bind(NamedStatement namedStatement, Object... values) throws SQLException {
    namedStatement.set("namespace", NAMESPACE);
    for (Map.Entry<String, Object> value : row(values).entrySet()) {
      if (value.getValue() instanceof Number number) {
        namedStatement.set(value.getKey(), number.longValue());
      } else if (value.getValue() instanceof List<?> list) {
        namedStatement.set(value.getKey(), list);
      } else {
        namedStatement.set(value.getKey(), (String) value.getValue());
      }
    }
    return namedStatement;
  }

  /** Runs it; how many rows it changed. */
  int update(String name, Object... values) throws SQLException {
    try (NamedStatement namedStatement = statement(name, values)) {
      return namedStatement.update();
    }
  }

  /** Runs the query; returns its rows. */
  List<Map<String, Object>> query(String name, Object... values) throws SQLException {
    try (NamedStatement namedStatement = statement(name, values);
        ResultSet rows = namedStatement.query()) {
      return read(rows);
    }
  }

  /** The same; the first column of each row. */
  List<@Nullable Object> column(String name, Object... values) throws SQLException {
    List<@Nullable Object> first = new ArrayList<>();
    try (NamedStatement namedStatement = statement(name, values);
        ResultSet rows = namedStatement.query()) {
      while (rows.next()) {
        first.add(value(rows.getObject(1)));
      }
    }
    return first;
  }

  /** Of pairs of names and values. */
  static Map<String, Object> row(Object... values) {
    Map<String, Object> row = new LinkedHashMap<>();
    for (int i = 0; i < values.length; i += 2) {
      row.put((String) values[i], value(values[i + 1]));
    }
    return row;
  }

  /** A row like another. */
  static Map<String, Object> with(Map<String, Object> row, Object... changes) {
    Map<String, Object> changed = new TreeMap<>(row);
    changed.putAll(row(changes));
    return changed;
  }

  /** The values of a row, as {@link #row} takes them. */
  static Object[] pairs(Map<String, Object> row) {
    return row.entrySet().stream()
        .flatMap(column -> Stream.of(column.getKey(), column.getValue()))
        .toArray();
  }

  /** The parameters of a statement that takes a lock without terms, and further ones. */
  static Object[] asking(
      AttemptId attempt, long capacity, long tokens, long floor, Object... more) {
    return pairs(
        with(
            row(
                "name",
                "lock",
                "attempt",
                attempt.encoded(),
                "session",
                attempt.session().value(),
                "capacity",
                capacity,
                "tokens",
                tokens,
                "token_floor",
                floor,
                "at_most_us",
                -1,
                "at_least_us",
                -1,
                "label",
                ""),
            more));
  }

  /** A row that nothing was done to. */
  public static Map<String, Object> lock(String namespace, String name, Object... changes) {
    return with(
        row(
            "namespace", namespace,
            "name", name,
            "capacity", 10,
            "used", 0,
            "owner", null,
            "token", 11,
            "tokens", 12,
            "since_us", 13,
            "free_us", 14,
            "shut_us", 15,
            "label", "before",
            "told", 0,
            "evicted", 0,
            "last_token", 16,
            "next_place", 17,
            "next_ticket", 18,
            "waiters", 0,
            "closed_us", 19,
            "touched_us", 20,
            "ended", null,
            "ended_was", "WAITING",
            "ended_how", "EVICTED"),
        changes);
  }

  /** A row that nothing was done to. */
  static Map<String, Object> hold(String namespace, String name, String attempt) {
    return row(
        "namespace", namespace,
        "name", name,
        "attempt", attempt,
        "place", 1,
        "weight", 2,
        "token", 3,
        "tokens", 4,
        "since_us", 5,
        "free_us", 6,
        "shut_us", 7,
        "label", "before",
        "told", 2,
        "evicted", 0);
  }

  /** A row that nothing was done to. */
  static Map<String, Object> waiter(String namespace, String name, String attempt, long ticket) {
    return row(
        "namespace",
        namespace,
        "name",
        name,
        "ticket",
        ticket,
        "attempt",
        attempt,
        "session",
        attempt.substring(0, 12),
        "weight",
        2,
        "tokens",
        3,
        "token_floor",
        4,
        "at_most_us",
        5,
        "at_least_us",
        6,
        "label",
        "before",
        "since_us",
        7);
  }

  /** A row that nothing was done to. */
  static Map<String, Object> session(String id, long beat, long expires) {
    return row("id", id, "beat", beat, "expires_us", expires, "ttl_us", 9, "client", "of " + id);
  }

  /** A row that nothing was done to. */
  static Map<String, Object> notifications(
      long id, String session, String kind, String attempt, Object... changes) {
    return with(
        row(
            "id", id, "session", session, "kind", kind, "name", "lock", "attempt", attempt, "token",
            3, "tokens", 4, "flag", 1, "timed", 0, "how", ""),
        changes);
  }

  /** Puts a row into a table; as the table has it. */
  public Map<String, Object> put(String table, Map<String, Object> row) throws SQLException {
    List<String> columns = List.copyOf(row.keySet());
    String[] marks = new String[columns.size()];
    Arrays.fill(marks, "?");
    try (PreparedStatement insert =
        connection.prepareStatement(
            "INSERT INTO %s (%s) VALUES (%s)"
                .formatted(
                    text.table(table), String.join(", ", columns), String.join(", ", marks)))) {
      for (int i = 0; i < columns.size(); i++) {
        insert.setObject(i + 1, row.get(columns.get(i)));
      }
      insert.executeUpdate();
    }
    return new TreeMap<>(row);
  }

  /** All rows of a table. */
  List<Map<String, Object>> all(String table) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT * FROM " + text.table(table))) {
      return read(rows);
    }
  }

  private static List<Map<String, Object>> read(ResultSet rows) throws SQLException {
    List<Map<String, Object>> all = new ArrayList<>();
    ResultSetMetaData columns = rows.getMetaData();
    while (rows.next()) {
      Map<String, Object> row = new TreeMap<>();
      for (int i = 1; i <= columns.getColumnCount(); i++) {
        row.put(columns.getColumnLabel(i).toLowerCase(Locale.ROOT), value(rows.getObject(i)));
      }
      all.add(row);
    }
    return all;
  }

  private static @Nullable Object value(@Nullable Object value) {
    return value instanceof Number number ? Long.valueOf(number.longValue()) : value;
  }

  /** That a table has these rows and no others. */
  void assertAll(String table, Object... rows) throws SQLException {
    assertThat(new ArrayList<Object>(all(table))).containsExactlyInAnyOrder(rows);
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }
}
