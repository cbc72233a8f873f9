package io.mortise.jdbc.document;

import io.mortise.LockException;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.internal.runtime.FailureText;
import io.mortise.jdbc.dialect.ServerDatabase.ConnectionSource;
import io.mortise.jdbc.table.SqlText;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreReport;
import io.mortise.spi.time.Ticker;
import io.mortise.support.document.DocumentStore;
import io.mortise.support.document.VersionedDocuments;
import io.mortise.support.document.VersionedDocuments.VersionedText;
import io.mortise.support.internal.document.ReportingStore;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A database of any product, which keeps documents by portable statements. Thread-safe.
 *
 * <p>When it is opened, documents are written in a transaction that is rolled back: a database that
 * does not do what a lock needs is refused. Each connection is asked for the identity that was
 * stored when the table was made: connections that lead to different tables are refused.
 */
public final class DocumentDatabase {
  private static final Logger log = LoggerFactory.getLogger(DocumentDatabase.class);

  /** Products that the tests of Mortise run on, by the beginnings of their names. */
  private static final List<String> TESTED =
      List.of("Apache Derby", "HSQL Database Engine", "H2 ", "Firebird");

  /** Those of them that force each commit to the disk, unless they are told otherwise. */
  private static final List<String> FORCING = List.of("Apache Derby");

  /** Connections for requests. A pool of the application lends one. */
  private static final int MOST_CONNECTIONS = 4;

  /** Changes if the rows of another version of Mortise mean something else. */
  private static final String LAYOUT = "1 ";

  /** The length of a text column whose type needs one. A record of a waiter takes some 100. */
  private static final int LONG_TEXT = 1_000_000;

  /** As long as the record of a lock with hundreds of waiters. */
  private static final String PROBE = "a\tA\n'\"\\ \u00e9\ud83d\ude00" + "x".repeat(1 << 16) + " ";

  private final ConnectionSource source;
  private final boolean borrows;
  private final Settings settings;
  private final Ticker ticker;
  private final LongSupplier micros;
  private final SqlText text;
  private final DocumentKey identityKey;
  private final Map<DocumentConnection, String> identities = new ConcurrentHashMap<>();

  private volatile String product = "";

  /**
   * How a database is used.
   *
   * @param display what to call it; holds no secret
   * @param prefix of the table's name
   * @param namespace keeps applications apart
   * @param timeout after which a request is given up
   * @param create whether the table is made if it is missing
   */
  public record Settings(
      String display, String prefix, String namespace, Duration timeout, boolean create) {}

  /** Connects to nothing yet; see {@link #open}. */
  DocumentDatabase(
      ConnectionSource source,
      boolean borrows,
      Settings settings,
      Ticker ticker,
      InstantSource wallClock) {
    this.micros = VersionedDocuments.timeOfDay(ticker, wallClock);
    this.source = source;
    this.borrows = borrows;
    this.settings = settings;
    this.ticker = ticker;
    this.text = new SqlText("document", settings.prefix());
    this.identityKey = DocumentKey.of("", "identity/table");
  }

  /**
   * Opens the store of a database. Blocks.
   *
   * @param borrows whether connections are a pool's, which gets them back as they were
   * @param ticker this process's monotonic clock
   * @param wallClock this host's time of day
   * @throws StoreUnavailableException if the database cannot be reached now
   * @throws StoreUnfitException if it can, but does not do what locks need
   */
  public static LockStore open(
      ConnectionSource source,
      boolean borrows,
      Settings settings,
      Ticker ticker,
      InstantSource wallClock) {
    DocumentDatabase database = new DocumentDatabase(source, borrows, settings, ticker, wallClock);
    SqlDocuments requests = database.prepare("requests", borrows ? 1 : MOST_CONNECTIONS);
    String product = database.product;
    if (TESTED.stream().noneMatch(product::startsWith)) {
      log.info(
          "Mortise was not tested with {} (store={}). What it needs of a database was checked;"
              + " 'mortise torture --store' tests more.",
          product,
          settings.display());
    }
    LockStore store =
        DocumentStore.clockless(
            profile(settings), requests, database.renewals(requests), ticker, wallClock);
    return ReportingStore.checked(
        store, () -> CompletableFuture.completedFuture(true), () -> report(product));
  }

  private static StoreProfile profile(Settings settings) {
    StoreProfile pushing = DocumentStore.clocklessProfile(settings.display(), settings.timeout());
    return new StoreProfile(
        pushing.display(),
        DocumentStore.CAPABILITIES_WITHOUT_CLOCK,
        pushing.maxInFlight(),
        pushing.minTtl(),
        pushing.expiryLag());
  }

  /**
   * Looks at the database, and makes the table. Throws as {@link #open} does.
   *
   * @param most connections at a time
   * @return the documents of the namespace. The connection of the checks rests among theirs: a
   *     database in memory lives as long as one is open
   */
  SqlDocuments prepare(String purpose, int most) {
    try {
      Connection connection = source.connect();
      product = prepare(connection);
      DocumentConnections connections = new DocumentConnections(this, purpose, most, ticker);
      connections.rest(ready(connection));
      return documents(connections);
    } catch (SQLException e) {
      throw refusal(e, settings.display());
    }
  }

  /**
   * The documents by a connection of their own, so that renewals stand behind no request. It is
   * made now: a second connection may lead to another database, as in memory without a name.
   *
   * @param requests closed if that fails
   */
  private SqlDocuments renewals(SqlDocuments requests) {
    DocumentConnections connections = new DocumentConnections(this, "renewals", 1, ticker);
    try {
      connections.rest(connect());
      return documents(connections);
    } catch (SQLException e) {
      requests.close();
      throw SqlFailure.of(e) == SqlFailure.REFUSED
          ? new StoreUnfitException(
              "Store '%s' does not show a second connection the table of the first: %s. Give a database in memory a name."
                  .formatted(
                      settings.display(),
                      FailureText.withoutFullStop(
                          FailureText.quoted(String.valueOf(e.getMessage())))),
              e)
          : refusal(e, settings.display());
    } catch (RuntimeException e) {
      requests.close();
      throw e;
    }
  }

  private SqlDocuments documents(DocumentConnections connections) {
    return new SqlDocuments(connections, settings.namespace(), micros);
  }

  /** Why a database cannot be opened. */
  public static LockException refusal(SQLException e, String display) {
    String said = FailureText.withoutFullStop(FailureText.quoted(String.valueOf(e.getMessage())));
    if (String.valueOf(e.getSQLState()).startsWith("28")) {
      return new StoreUnfitException(
          "The database does not let this user in (store=%s): %s. Check user and password."
              .formatted(display, said),
          e);
    }
    return SqlFailure.of(e) == SqlFailure.BROKEN
        ? new StoreUnavailableException(
            "The database cannot be opened (store=%s): %s. Check the address, and what the URL asks the driver for."
                .formatted(display, said),
            e)
        : SqlFailure.of(e).translated(e, display);
  }

  private static CompletableFuture<StoreReport> report(String product) {
    StoreReport.Builder report = StoreReport.about("database/lazy");
    if (TESTED.stream().anyMatch(product::startsWith)) {
      report.fine("product", product, "Mortise is tested with it.");
    } else {
      report.note(
          "product",
          product,
          "Mortise was not tested with it. What it needs of a database was checked at the start.",
          "Run 'mortise torture --store' with the URL.");
    }
    if (FORCING.stream().anyMatch(product::startsWith)) {
      report.mode("database");
      report.fine("commits", "forced", "A grant is on the disk before it is answered.");
    } else {
      report.unknown(
          "commits",
          "Whether the database forces its commits to the disk before it answers is not known here.",
          "Look at its settings, such as WRITE_DELAY: one that answers earlier may forget the last grants and tokens.",
          "server-crash",
          "power-loss");
    }
    return CompletableFuture.completedFuture(report.build());
  }

  /** Checks a new connection, and makes the table. Closes it if that fails. Its product. */
  private String prepare(Connection connection) throws SQLException {
    try {
      DatabaseMetaData meta = connection.getMetaData();
      if (!meta.supportsTransactionIsolationLevel(Connection.TRANSACTION_READ_COMMITTED)) {
        throw unfit("has no transactions of isolation READ COMMITTED, which locks need.");
      }
      makeTable(connection);
      return (meta.getDatabaseProductName() + " " + meta.getDatabaseProductVersion())
          .replaceAll("\\s+", " ");
    } catch (SQLException | RuntimeException e) {
      try (connection) {
        throw e;
      }
    }
  }

  private StoreUnfitException unfit(String why) {
    return new StoreUnfitException("Store '" + settings.display() + "' " + why);
  }

  /** Makes the table if it cannot be read, unless another process is quicker. */
  private void makeTable(Connection connection) throws SQLException {
    try {
      tryTable(connection);
      return;
    } catch (SQLException e) {
      SqlFailure failure = SqlFailure.of(e);
      if (failure == SqlFailure.BUSY || (failure == SqlFailure.BROKEN && connection.isClosed())) {
        throw e;
      }
      log.debug("The table of {} cannot be read", settings.display(), e);
    }
    endTransaction(connection);
    if (!settings.create()) {
      throw unfit(
          "lacks table '%s', and create=false forbids to make it. Make it from %s of the jdbc module, or set prefix."
              .formatted(text.table("document"), text.schemaResource()));
    }
    String type = longTextType(connection.getMetaData());
    try (Statement statement = connection.createStatement()) {
      for (String ddl : text.schema()) {
        statement.execute(ddl.replace("CLOB", type));
      }
    } catch (SQLException e) {
      endTransaction(connection);
      try {
        tryTable(connection);
      } catch (SQLException second) {
        e.addSuppressed(second);
        if (SqlFailure.of(e) == SqlFailure.BUSY) {
          throw e;
        } else if (SqlFailure.of(second) == SqlFailure.BUSY) {
          throw second;
        }
        throw new StoreUnfitException(
            "Store '%s' does not let this user make or read table '%s': %s. Grant the right, or make it from %s of the jdbc module."
                .formatted(
                    settings.display(),
                    text.table("document"),
                    FailureText.withoutFullStop(FailureText.quoted(String.valueOf(e.getMessage()))),
                    text.schemaResource()),
            e);
      }
    }
    endTransaction(connection);
  }

  /** Fails if the table is not there or cannot be read. */
  private void tryTable(Connection connection) throws SQLException {
    try (DocumentTable table = table(connection)) {
      var unused = table.read(identityKey);
    }
  }

  /** In some databases a statement that fails leaves a transaction of no use. */
  private static void endTransaction(Connection connection) throws SQLException {
    if (!connection.getAutoCommit()) {
      connection.commit();
    }
  }

  /**
   * The database's name for a type of long texts: one that is read with its row, if there is such a
   * type.
   */
  private static String longTextType(DatabaseMetaData meta) throws SQLException {
    String found = "CLOB";
    int rank = Integer.MAX_VALUE;
    List<Integer> wanted =
        List.of(Types.VARCHAR, Types.CLOB, Types.LONGVARCHAR, Types.LONGNVARCHAR, Types.NCLOB);
    try (ResultSet row = meta.getTypeInfo()) {
      while (row.next()) {
        String name = row.getString("TYPE_NAME");
        int here = wanted.indexOf(row.getInt("DATA_TYPE"));
        boolean isVarying = here == 0;
        boolean isLong = !isVarying || row.getLong("PRECISION") >= LONG_TEXT;
        if (here >= 0 && here < rank && isLong) {
          rank = here;
          found = isVarying ? name + "(" + LONG_TEXT + ")" : name;
        }
      }
    }
    return found;
  }

  /** Connects. Blocks. */
  DocumentConnection connect() throws SQLException {
    return ready(source.connect());
  }

  private DocumentConnection ready(Connection connection) throws SQLException {
    DocumentConnection made = DocumentConnection.of(connection, this);
    try {
      if (identities.isEmpty()) {
        check(made.table());
      }
      String here = identity(made.table());
      identities.put(made, here);
      made.onClose(() -> identities.remove(made));
      if (identities.values().stream().anyMatch(other -> !other.equals(here))) {
        throw unfit(
            "has connections that lead to different servers at one time, each with locks of its own. Name one database; a balancer must not spread connections over several.");
      }
      return made;
    } catch (SQLException | RuntimeException e) {
      made.close();
      throw e;
    }
  }

  /** The random id that was stored when the table was made. */
  private String identity(DocumentTable table) throws SQLException {
    VersionedText found = table.read(identityKey);
    if (found == null) {
      try {
        table.insert(identityKey, 1, LAYOUT + UUID.randomUUID());
      } catch (SQLException e) {
        if (!SqlFailure.isDuplicate(e)) {
          throw e;
        }
        table.rollback();
      }
      found = table.read(identityKey);
    }
    String identity = found == null ? "" : String.valueOf(found.text());
    if (!identity.startsWith(LAYOUT)) {
      throw unfit(
          "has a table '%s' of another version of Mortise. Use one release for all processes, or another prefix."
              .formatted(text.table("document")));
    }
    return identity;
  }

  /** Does all that steps of locks do, and undoes it. */
  private void check(DocumentTable table) throws SQLException {
    DocumentKey key = DocumentKey.of("", "probe/" + UUID.randomUUID());
    table.begin();
    table.insert(key, 1, PROBE);
    VersionedText first = table.read(key);
    expect(
        first != null && PROBE.equals(first.text()) && first.version().equals("1"),
        "does not keep a text as it was written");
    expect(!table.update(key, 2, 3, ""), "changes a row that the condition does not meet");
    expect(table.update(key, 1, 2, ""), "does not tell how many rows an update has changed");
    expect(!table.delete(key, 1), "deletes a row that the condition does not meet");
    VersionedText second = table.read(key);
    expect(
        second != null && second.version().equals("2") && "".equals(second.text()),
        "does not show a transaction its own writes");
    expect(refusesDuplicate(table, key), "takes two rows of one primary key");
    table.rollback();
    expect(table.read(key) == null, "has no transactions that can be rolled back");
  }

  private static boolean refusesDuplicate(DocumentTable table, DocumentKey key)
      throws SQLException {
    try {
      table.insert(key, 1, "");
      return false;
    } catch (SQLException e) {
      if (SqlFailure.isDuplicate(e)) {
        return true;
      }
      throw e;
    }
  }

  private void expect(boolean isSo, String otherwise) {
    if (!isSo) {
      throw unfit(otherwise + ", so it can keep no locks.");
    }
  }

  DocumentTable table(Connection connection) {
    return new DocumentTable(connection, text, timeoutSeconds());
  }

  String display() {
    return settings.display();
  }

  boolean borrows() {
    return borrows;
  }

  Duration timeout() {
    return settings.timeout();
  }

  /** Rounded up, as JDBC counts. */
  int timeoutSeconds() {
    return (int) TimeUnit.MILLISECONDS.toSeconds(settings.timeout().toMillis() + 999);
  }
}
