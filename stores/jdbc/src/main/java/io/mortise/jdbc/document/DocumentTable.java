package io.mortise.jdbc.document;

import io.mortise.StoreUnfitException;
import io.mortise.internal.runtime.FailureText;
import io.mortise.jdbc.table.NamedStatement;
import io.mortise.jdbc.table.SqlText;
import io.mortise.support.document.VersionedDocuments.VersionedText;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The table of documents on one connection: one method per statement. For one thread at a time. */
final class DocumentTable implements AutoCloseable {
  /** As many as {@link #readAll} takes. */
  static final int MOST_READ = 100;

  private final Connection connection;
  private final SqlText text;
  private final int timeoutSeconds;
  private final Map<String, NamedStatement> prepared = new HashMap<>();

  /**
   * Prepares nothing yet.
   *
   * @param timeoutSeconds after which the database gives a statement up, if it can
   */
  DocumentTable(Connection connection, SqlText text, int timeoutSeconds) {
    this.connection = connection;
    this.text = text;
    this.timeoutSeconds = timeoutSeconds;
  }

  /**
   * A row of a list.
   *
   * @param found without a text if none was asked for
   */
  record ListedRow(DocumentKey key, VersionedText found) {}

  private NamedStatement of(String name) throws SQLException {
    return of(name, 1);
  }

  private NamedStatement of(String name, int listed) throws SQLException {
    NamedStatement known = prepared.get(name);
    if (known == null) {
      known =
          new NamedStatement(connection, text.statement(name, listed)).boundedBy(timeoutSeconds);
      prepared.put(name, known);
    }
    return known;
  }

  /** Null if there is no such row. */
  @Nullable VersionedText read(DocumentKey key) throws SQLException {
    return of("read").set("doc_key", key.row()).first(row -> document(key, row, 1));
  }

  /**
   * Those of these rows that are there.
   *
   * @param keys at least one, and {@link #MOST_READ} at most
   */
  Map<DocumentKey, VersionedText> readAll(List<DocumentKey> keys) throws SQLException {
    Map<String, DocumentKey> wanted = new HashMap<>();
    keys.forEach(key -> wanted.put(key.row(), key));
    NamedStatement statement =
        of("read_all", MOST_READ).set("doc_keys", keys.stream().map(DocumentKey::row).toList());
    Map<DocumentKey, VersionedText> found = new HashMap<>();
    try (ResultSet row = statement.query()) {
      while (row.next()) {
        DocumentKey key = wanted.get(row.getString(1));
        if (key != null) {
          found.put(key, document(key, row, 2));
        }
      }
    }
    return found;
  }

  private VersionedText document(DocumentKey key, ResultSet row, int column) throws SQLException {
    long version = row.getLong(column);
    String content = row.getString(column + 1);
    try {
      return new VersionedText(AsciiText.decode(String.valueOf(content)), Long.toString(version));
    } catch (IllegalArgumentException e) {
      throw new StoreUnfitException(
          "Row '%s' of table '%s' was written by another program, or by hand: %s. Give Mortise a table of its own."
              .formatted(FailureText.quoted(key.name()), text.table("document"), e.getMessage()),
          e);
    }
  }

  /** Fails if there is such a row. */
  void insert(DocumentKey key, long version, String content) throws SQLException {
    of("insert")
        .set("doc_key", key.row())
        .set("doc_name", key.name())
        .set("doc_version", version)
        .set("doc_text", AsciiText.encode(content))
        .update();
  }

  /** Whether there was a row of that version. */
  boolean update(DocumentKey key, long expected, long version, String content) throws SQLException {
    return of("update")
            .set("doc_key", key.row())
            .set("expected", expected)
            .set("doc_version", version)
            .set("doc_text", AsciiText.encode(content))
            .update()
        == 1;
  }

  /** Whether there was a row of that version. */
  boolean delete(DocumentKey key, long expected) throws SQLException {
    return of("delete").set("doc_key", key.row()).set("expected", expected).update() == 1;
  }

  /** The next rows of a range. */
  List<ListedRow> list(String after, String last, int limit, boolean withTexts)
      throws SQLException {
    NamedStatement statement =
        of(withTexts ? "list_texts" : "list").set("after", after).set("last", last);
    List<ListedRow> rows = new ArrayList<>();
    try (ResultSet row = statement.query(limit)) {
      while (rows.size() < limit && row.next()) {
        DocumentKey key = new DocumentKey(row.getString(1), row.getString(2));
        rows.add(new ListedRow(key, withTexts ? document(key, row, 3) : VersionedText.ABSENT));
      }
    }
    return rows;
  }

  /** Begins a transaction. */
  void begin() throws SQLException {
    connection.setAutoCommit(false);
  }

  /** Ends it. */
  void commit() throws SQLException {
    connection.commit();
    connection.setAutoCommit(true);
  }

  /** Undoes what was not committed. */
  void rollback() throws SQLException {
    if (!connection.getAutoCommit()) {
      connection.rollback();
      connection.setAutoCommit(true);
    }
  }

  /** Closes the statements, and not the connection. */
  @Override
  public void close() throws SQLException {
    for (NamedStatement statement : prepared.values()) {
      statement.close();
    }
    prepared.clear();
  }
}
