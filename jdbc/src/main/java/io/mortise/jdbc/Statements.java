package io.mortise.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The statements of one connection, each prepared when it is first needed. For one thread. */
abstract class Statements {
  private final Connection connection;
  final SqlText text;
  private final String namespace;
  private final Map<String, Sql> prepared = new HashMap<>();

  Statements(Connection connection, SqlText text, String namespace) {
    this.connection = connection;
    this.text = text;
    this.namespace = namespace;
  }

  Sql prepare(Connection connection, SqlText.Statement statement) throws SQLException {
    return new Sql(connection, statement);
  }

  /** Sets the parameters of a statement. */
  @FunctionalInterface
  interface Binder {
    void bind(Sql sql) throws SQLException;
  }

  final void write(String statement, String name, Binder binder) throws SQLException {
    write(
        statement,
        sql -> {
          sql.set("name", name);
          binder.bind(sql);
        });
  }

  /** Runs a statement whose outcome is known beforehand, now or with the commit. */
  void write(String statement, Binder binder) throws SQLException {
    Sql sql = of(statement);
    binder.bind(sql);
    sql.update();
  }

  final Sql of(String statement, String name) throws SQLException {
    return of(statement).set("name", name);
  }

  final Sql of(String statement) throws SQLException {
    Sql known = prepared.get(statement);
    return known == null ? of(text.statement(statement)) : known;
  }

  final Sql of(SqlText.Statement statement) throws SQLException {
    Sql sql = prepared.get(statement.name());
    if (sql == null) {
      sql = prepare(connection, statement);
      prepared.put(statement.name(), sql);
      // Never changes, and parameters stay bound.
      sql.set("namespace", namespace);
    }
    return sql;
  }

  final boolean isClosed() throws SQLException {
    return connection.isClosed();
  }

  static List<String> strings(Sql sql) throws SQLException {
    List<String> strings = new ArrayList<>();
    try (ResultSet row = sql.query()) {
      while (row.next()) {
        strings.add(row.getString(1));
      }
    }
    return strings;
  }
}
