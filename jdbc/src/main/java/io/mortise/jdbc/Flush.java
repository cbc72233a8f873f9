package io.mortise.jdbc;

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
final class Flush {
  /** Different sequences that stay prepared; there are a dozen in everyday life. */
  private static final int REMEMBERED = 64;

  private final Connection connection;
  private final String namespace;
  private final SqlText.Several several;
  private final Map<List<String>, Prepared> prepared = new LinkedHashMap<>(16, 0.75f, true);
  private final List<Part> parts = new ArrayList<>();

  Flush(Connection connection, String namespace, SqlText.Several several) {
    this.connection = connection;
    this.namespace = namespace;
    this.several = several;
  }

  private record Part(SqlText.Statement text, Statements.Binder binder) {}

  private record Prepared(PreparedStatement statement, List<Sql> parts) {}

  void add(SqlText.Statement text, Statements.Binder binder) {
    parts.add(new Part(text, binder));
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
  void send(Sql.Reader reader) throws SQLException {
    if (parts.isEmpty()) {
      return;
    }
    List<Part> sent = List.copyOf(parts);
    parts.clear();
    Prepared ready = prepare(sent.stream().map(Part::text).toList());
    for (int i = 0; i < sent.size(); i++) {
      sent.get(i).binder().bind(ready.parts().get(i));
    }
    // To the last result: an error may stand behind any of them.
    ready.parts().get(0).run(reader);
  }

  private Prepared prepare(List<SqlText.Statement> texts) throws SQLException {
    List<String> key = texts.stream().map(SqlText.Statement::name).toList();
    Prepared known = prepared.get(key);
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
            several.one(String.join(";\n", texts.stream().map(SqlText.Statement::sql).toList())));
    List<Sql> views = new ArrayList<>();
    int offset = 0;
    for (SqlText.Statement text : texts) {
      Sql view = new Sql(statement, text.parameters(), offset);
      // Never changes, and parameters stay bound.
      view.set("namespace", namespace);
      views.add(view);
      offset += text.parameters().size();
    }
    Prepared made = new Prepared(statement, views);
    prepared.put(key, made);
    return made;
  }
}
