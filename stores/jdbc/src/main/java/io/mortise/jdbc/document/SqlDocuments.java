package io.mortise.jdbc.document;

import io.mortise.jdbc.document.DocumentTable.ListedRow;
import io.mortise.support.document.VersionedDocuments;
import io.mortise.support.internal.document.RemovalEntries;
import java.sql.SQLException;
import java.sql.SQLTransactionRollbackException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Documents as rows of a table, by statements that any SQL database has. A document is replaced by
 * one update, which compares the version and commits by itself.
 *
 * <p><b>Absence.</b> A removal deletes the row, and raises one of 64 {@link RemovalEntries} above
 * the row's version in the same transaction. The version of a missing document is that of its
 * entry, read after the row was not found. A new document has a greater one. Its transaction
 * inserts the row first and reads the entry then: a removal since the look is committed before the
 * row can be inserted, so READ COMMITTED shows it, and the transaction is rolled back.
 *
 * <p>A new version is not below the time of day in tenths of a second. So versions rise, and
 * fencing tokens with them, also after the table or the last writes were lost, unless a lock was
 * written more often than that. After a row was deleted by hand the next token may be smaller.
 *
 * <p>Thread-safe.
 */
final class SqlDocuments implements VersionedDocuments, AutoCloseable {
  static final RemovalEntries REMOVALS = new RemovalEntries(64);

  /** A version counts tenths of a second at first: so tokens stay below those that count faster. */
  private static final long MICROS = 100_000;

  /** Names that are read at a time where only some of them begin with the prefix. */
  private static final int PAGE = 1_000;

  private final DocumentConnections connections;
  private final String namespace;
  private final LongSupplier micros;

  /**
   * Sends nothing yet.
   *
   * @param micros the time of day, where versions begin
   */
  SqlDocuments(DocumentConnections connections, String namespace, LongSupplier micros) {
    this.connections = connections;
    this.namespace = namespace;
    this.micros = micros;
  }

  private long beginning() {
    return micros.getAsLong() / MICROS;
  }

  private DocumentKey key(String key) {
    return DocumentKey.of(namespace, key);
  }

  private DocumentKey removalKey(String key) {
    return key(REMOVALS.keyOf(key));
  }

  @Override
  public CompletionStage<VersionedText> read(String key) {
    DocumentKey row = key(key);
    return connections.read(
        table -> {
          VersionedText found = table.read(row);
          return found != null ? found : absent(removal(table, removalKey(key)));
        });
  }

  private static VersionedText absent(long version) {
    return new VersionedText(null, Long.toString(version));
  }

  /** The version of an entry of removals, which is made if it is not there. */
  private long removal(DocumentTable table, DocumentKey entry) throws SQLException {
    VersionedText found = table.read(entry);
    if (found == null) {
      try {
        table.insert(entry, beginning(), "");
      } catch (SQLException e) {
        if (!SqlFailure.isDuplicate(e)) {
          throw e;
        }
        // Another process was first.
        table.rollback();
      }
      found = table.read(entry);
    }
    if (found == null) {
      throw new SQLException("A row that was inserted is not there.");
    }
    return Long.parseLong(found.version());
  }

  @Override
  public CompletionStage<Written> compareAndSet(
      String key, VersionedText found, @Nullable String text) {
    DocumentKey row = key(key);
    long version = Long.parseLong(found.version());
    if (found.text() == null) {
      return connections.write(
          table -> text == null ? new Written(true, null) : make(table, row, key, version, text));
    } else if (text == null) {
      return connections.write(table -> remove(table, row, removalKey(key), version));
    }
    long next = next(version);
    return connections.write(
        table -> table.update(row, version, next, text) ? made(text, next) : refused());
  }

  /** Above the earlier version, also if the database has lost a later one. */
  private long next(long version) {
    return Math.max(version, beginning()) + 1;
  }

  private static Written made(@Nullable String text, long version) {
    return new Written(true, new VersionedText(text, Long.toString(version)));
  }

  private static Written refused() {
    return new Written(false, null);
  }

  private Written make(DocumentTable table, DocumentKey row, String key, long looked, String text)
      throws SQLException {
    long version = next(looked);
    table.begin();
    try {
      table.insert(row, version, text);
    } catch (SQLException e) {
      if (SqlFailure.isDuplicate(e)) {
        table.rollback();
        return refused();
      }
      throw e;
    }
    VersionedText entry = table.read(removalKey(key));
    if (entry == null || Long.parseLong(entry.version()) != looked) {
      table.rollback();
      return refused();
    }
    table.commit();
    return made(text, version);
  }

  private Written remove(DocumentTable table, DocumentKey row, DocumentKey entry, long version)
      throws SQLException {
    long known = removal(table, entry);
    table.begin();
    if (!table.delete(row, version)) {
      table.rollback();
      return refused();
    }
    long next = next(Math.max(known, version));
    if (!table.update(entry, known, next, "")) {
      throw new SQLTransactionRollbackException(
          "Another document of the same entry was removed meanwhile.", "40001");
    }
    table.commit();
    return made(null, next);
  }

  @Override
  public CompletionStage<List<String>> scan(String prefix, String after, int limit) {
    return list(prefix, after, limit, false)
        .thenApply(listed -> listed.stream().map(ListedText::key).toList());
  }

  @Override
  public CompletionStage<List<ListedText>> scanTexts(String prefix, String after, int limit) {
    return isKind(prefix)
        ? list(prefix, after, limit, true)
        : list(prefix, after, limit, false).thenCompose(this::withTexts);
  }

  /** Whether all keys of a kind begin so. */
  private static boolean isKind(String prefix) {
    return prefix.indexOf('/') == prefix.length() - 1;
  }

  private CompletionStage<List<ListedText>> list(
      String prefix, String after, int limit, boolean withTexts) {
    String from =
        after.isEmpty() ? DocumentKey.range(namespace, prefix).before() : key(after).row();
    return list(prefix, from, limit, withTexts, new ArrayList<>());
  }

  /** Reads page after page, each in a step of its own: the timeout bounds one page, not all. */
  private CompletionStage<List<ListedText>> list(
      String prefix, String from, int limit, boolean withTexts, List<ListedText> listed) {
    String last = DocumentKey.range(namespace, prefix).last();
    int page = isKind(prefix) ? limit - listed.size() : PAGE;
    return connections
        .read(table -> table.list(from, last, page, withTexts))
        .thenCompose(
            rows -> {
              for (ListedRow row : rows) {
                DocumentKey.key(namespace, row.key().name())
                    .filter(key -> key.startsWith(prefix) && listed.size() < limit)
                    .ifPresent(key -> listed.add(new ListedText(key, row.found())));
              }
              return rows.size() < page || listed.size() >= limit
                  ? CompletableFuture.completedFuture(listed)
                  : list(prefix, rows.get(rows.size() - 1).key().row(), limit, withTexts, listed);
            });
  }

  /** The same keys with the texts that they have now. */
  private CompletionStage<List<ListedText>> withTexts(List<ListedText> listed) {
    CompletionStage<List<ListedText>> all = CompletableFuture.completedFuture(new ArrayList<>());
    for (int from = 0; from < listed.size(); from += DocumentTable.MOST_READ) {
      List<ListedText> some =
          listed.subList(from, Math.min(from + DocumentTable.MOST_READ, listed.size()));
      all = all.thenCompose(before -> addTexts(before, some));
    }
    return all;
  }

  private CompletionStage<List<ListedText>> addTexts(
      List<ListedText> before, List<ListedText> listed) {
    List<DocumentKey> rows = listed.stream().map(each -> key(each.key())).toList();
    return connections
        .read(table -> table.readAll(rows))
        .thenApply(
            found -> {
              for (int i = 0; i < rows.size(); i++) {
                // One that was removed meanwhile stays: a page of fewer keys would be the last.
                before.add(
                    new ListedText(
                        listed.get(i).key(),
                        found.getOrDefault(rows.get(i), VersionedText.ABSENT)));
              }
              return before;
            });
  }

  @Override
  public void close() {
    connections.close();
  }
}
