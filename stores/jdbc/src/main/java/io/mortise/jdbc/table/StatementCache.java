package io.mortise.jdbc.table;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The statements of one connection, each prepared when it is first needed. For one thread. */
abstract class StatementCache {
  private final Connection connection;
  final SqlText text;
  private final String namespace;
  private final Map<String, NamedStatement> prepared = new HashMap<>();

  StatementCache(Connection connection, SqlText text, String namespace) {
    this.connection = connection;
    this.text = text;
    this.namespace = namespace;
  }

  NamedStatement prepare(Connection connection, SqlText.SqlStatement sqlStatement)
      throws SQLException {
    return new NamedStatement(connection, sqlStatement);
  }

  /** Sets the parameters of a statement. */
  @FunctionalInterface
  interface ParameterBinder {
    void bind(NamedStatement namedStatement) throws SQLException;
  }

  final void write(String statementName, String name, ParameterBinder binder) throws SQLException {
    write(
        statementName,
        namedStatement -> {
          namedStatement.set("name", name);
          binder.bind(namedStatement);
        });
  }

  /** Runs a statement whose outcome is known beforehand, now or with the commit. */
  void write(String statementName, ParameterBinder binder) throws SQLException {
    NamedStatement namedStatement = of(statementName);
    binder.bind(namedStatement);
    namedStatement.update();
  }

  final NamedStatement of(String statementName, String name) throws SQLException {
    return of(statementName).set("name", name);
  }

  final NamedStatement of(String statementName) throws SQLException {
    NamedStatement known = prepared.get(statementName);
    return known == null ? of(text.statement(statementName)) : known;
  }

  final NamedStatement of(SqlText.SqlStatement sqlStatement) throws SQLException {
    NamedStatement namedStatement = prepared.get(sqlStatement.name());
    if (namedStatement == null) {
      namedStatement = prepare(connection, sqlStatement);
      prepared.put(sqlStatement.name(), namedStatement);
      // Never changes, and parameters stay bound.
      namedStatement.set("namespace", namespace);
    }
    return namedStatement;
  }

  final boolean isClosed() throws SQLException {
    return connection.isClosed();
  }

  static List<String> strings(NamedStatement namedStatement) throws SQLException {
    return namedStatement.all(row -> row.getString(1));
  }
}
