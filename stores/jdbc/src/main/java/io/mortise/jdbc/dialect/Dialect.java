package io.mortise.jdbc.dialect;

import io.mortise.jdbc.notify.NotificationListener;
import io.mortise.jdbc.notify.NotifiedSession;
import io.mortise.jdbc.table.Database;
import io.mortise.jdbc.table.Database.ErrorKind;
import io.mortise.jdbc.table.SqlText;
import io.mortise.jdbc.table.StoreConnection;
import io.mortise.spi.SessionId;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The behaviour of one database product, beside its SQL files. Thread-safe; has no state. */
public interface Dialect {
  /** The folder of its SQL files. */
  String folder();

  /** Where its statements stand, if not in that folder: the first that has one is taken. */
  default List<String> folders() {
    return List.of(folder());
  }

  /** Its name as the driver's metadata tells it, compared without case. */
  String product();

  /** The beginning of its URLs, up to the second colon. */
  default String scheme() {
    return "jdbc:" + folder();
  }

  /** The Maven coordinates of its driver, for a message. */
  String driver();

  /** Parameters of a URL that are handed to the driver as they are. */
  Set<String> driverParameters();

  /**
   * Where to connect, and how.
   *
   * @throws IllegalArgumentException if the URL is of no use
   */
  ConnectionTarget target(StoreUrl url, Duration maxInFlight);

  /**
   * The same product behind a pooler that gives out server connections for one transaction at a
   * time: settings, prepared statements and subscriptions of a connection get lost, or other
   * clients meet them.
   *
   * @param maxInFlight how long a request may be in flight
   * @throws IllegalArgumentException if that is not supported
   */
  default Dialect behindPooler(Duration maxInFlight) {
    throw new IllegalArgumentException(
        "Parameter 'pooler' is for PostgreSQL; for " + product() + " leave it out.");
  }

  /**
   * Refuses a server that cannot keep locks: too old, or read-only.
   *
   * @param store how to call it in a message
   * @throws io.mortise.StoreUnfitException if so
   */
  void check(Connection connection, String store) throws SQLException;

  /** The server's id of the connection, which tells whether two are one. */
  default String connectionId(Connection connection) throws SQLException {
    String sql = new SqlText(folders(), SqlText.DEFAULT_PREFIX).statement("connection_id").sql();
    // Not prepared: behind a pooler that was not named, it might meet another connection's.
    try (Statement asking = connection.createStatement();
        ResultSet row = asking.executeQuery(sql)) {
      row.next();
      return String.valueOf(row.getString(1));
    }
  }

  /** Whether something stands before the server that the driver takes for the server. */
  default boolean isProxied(Connection connection) throws SQLException {
    return false;
  }

  /**
   * Sets the time limits of requests, on a new connection in auto-commit mode.
   *
   * @param store how to call it in a message
   * @return a warning about settings that put locks at risk, to be logged once
   * @throws io.mortise.StoreUnfitException if the server must not be used as it is now
   */
  Optional<String> setUp(Connection connection, String store, Duration maxInFlight)
      throws SQLException;

  /**
   * Makes a connection ready for use.
   *
   * @param isLocal whether a session is of this process, which needs no notification by the server
   */
  StoreConnection storeConnection(
      Connection connection, SqlText text, String namespace, Predicate<SessionId> isLocal)
      throws SQLException;

  /** How the server wakes this process, see {@link ServerDatabase#listener}; null if it cannot. */
  default @Nullable NotificationListener listener(
      ServerDatabase server,
      Ticker ticker,
      Map<SessionId, ? extends NotifiedSession> sessions,
      NotificationListener.NotificationSender notificationSender,
      Runnable look) {
    return null;
  }

  /**
   * Whether a process can hold a lock that ends with its connection and that others may try, see
   * {@code SessionRepository.takeConnectionLock}.
   */
  default boolean hasConnectionLocks() {
    return false;
  }

  /** How many requests may travel in one statement, see {@code LockRepository.together}. */
  int batch();

  /** See {@link Database#deferredBatch}. */
  default int deferredBatch() {
    return batch();
  }

  /** How often to look for notifications of an attempt whose turn is next. */
  default Duration poll() {
    return Duration.ofMillis(20);
  }

  /** The least that can be asked of {@link #setUp}. */
  default Duration leastInFlight() {
    return Duration.ofMillis(100);
  }

  /** See {@link Database#idleLimit}. */
  default Duration idleLimit() {
    return Database.NEVER;
  }

  /** Reads the settings that change what locks guarantee there. */
  StoreReport examine(Connection connection) throws SQLException;

  /** Classifies an error for the tasks that wait for an answer. */
  ErrorKind errorKind(SQLException error);

  /** The reason that an error at the first connection gives. */
  UnfitReason reason(SQLException error);

  /** Whether it failed since a certificate is not trusted. */
  static boolean isUntrusted(Throwable error) {
    for (Throwable each = error; each != null; each = each.getCause()) {
      if (each instanceof CertificateException || each instanceof CertPathValidatorException) {
        return true;
      }
    }
    return false;
  }

  /** Where to connect, how, and what to show of it: without a secret. */
  record ConnectionTarget(String url, Properties properties, String display) {}

  /** Why a database cannot be used. */
  enum UnfitReason {
    /** User or password. */
    NO_ENTRY,
    /** The password cannot be encrypted, for want of the server's public key or TLS. */
    NO_KEY,
    /** The user may not do what is needed. */
    NO_RIGHT,
    NO_DATABASE,
    NO_SCHEMA,
    /** The server has none, or a certificate that is not trusted. */
    NO_TLS,
    READ_ONLY,
    /** An option of the server forbids it. */
    SETTING,
    /** The keys of the tables do not fit into its pages. */
    PAGE_SIZE,
    TOO_MANY_CONNECTIONS,
    /**
     * A prepared statement is missing or exists already: a pooler switches between server
     * connections.
     */
    POOLED,
    /** It does not answer, or something else. */
    OTHER
  }

  /** Whether the server calls itself by this product's name. */
  default boolean isNamed(String name) {
    return name.toLowerCase(Locale.ROOT).equals(product().toLowerCase(Locale.ROOT));
  }
}
