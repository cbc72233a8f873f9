package io.mortise.jdbc.table;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Statements that go to the server together: one text, one round trip, in order. For drivers that
 * take several statements in one.
 */
final class StatementBatch {
  /** Different sequences that stay prepared; there are a dozen in everyday life. */
  private static final int REMEMBERED = 64;

  private final Connection connection;
  private final String namespace;
  private final SqlText.MultiStatementFormat multiStatementFormat;
  private final Map<List<String>, PreparedBatch> prepared = new LinkedHashMap<>(16, 0.75f, true);
  private final List<BatchedStatement> parts = new ArrayList<>();

  StatementBatch(
      Connection connection, String namespace, SqlText.MultiStatementFormat multiStatementFormat) {
    this.connection = connection;
    this.namespace = namespace;
    this.multiStatementFormat = multiStatementFormat;
  }

  private record BatchedStatement(
      SqlText.SqlStatement text, StatementCache.ParameterBinder binder) {}

  private record PreparedBatch(PreparedStatement statement, List<NamedStatement> parts) {}

  void add(SqlText.SqlStatement text, StatementCache.ParameterBinder binder) {
    parts.add(new BatchedStatement(text, binder));
  }

  int size() {
    return parts.size();
  }

  void clear() {
    parts.clear();
  }

  void send() throws SQLException {
    send((result, rows) -> {});
  }

  /** As {@link #send()}, and hands over the results of queries in order. */
  void send(NamedStatement.ResultReader reader) throws SQLException {
    if (parts.isEmpty()) {
      return;
    }
    List<BatchedStatement> sent = List.copyOf(parts);
    parts.clear();
    PreparedBatch ready = prepare(sent.stream().map(BatchedStatement::text).toList());
    for (int i = 0; i < sent.size(); i++) {
      sent.get(i).binder().bind(ready.parts().get(i));
    }
    // To the last result: an error may stand behind any of them.
    ready.parts().get(0).run(reader);
  }

  private PreparedBatch prepare(List<SqlText.SqlStatement> texts) throws SQLException {
    List<String> key = texts.stream().map(SqlText.SqlStatement::name).toList();
    PreparedBatch known = prepared.get(key);
    if (known != null) {
      return known;
    }
    if (prepared.size() == REMEMBERED) {
      var eldest = prepared.entrySet().iterator();
      eldest.next().getValue().statement().close();
      eldest.remove();
    }
    PreparedStatement statement =
        connection.prepareStatement(
            multiStatementFormat.one(
                String.join(";\n", texts.stream().map(SqlText.SqlStatement::sql).toList())));
    List<NamedStatement> views = new ArrayList<>();
    int offset = 0;
    for (SqlText.SqlStatement text : texts) {
      NamedStatement view = new NamedStatement(statement, text.parameters(), offset);
      // Never changes, and parameters stay bound.
      view.set("namespace", namespace);
      views.add(view);
      offset += text.parameters().size();
    }
    PreparedBatch made = new PreparedBatch(statement, views);
    prepared.put(key, made);
    return made;
  }
}
