package io.mortise.jdbc;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.internal.runtime.FailureText;
import io.mortise.jdbc.dialect.Dialect;
import io.mortise.jdbc.dialect.MariaDbDialect;
import io.mortise.jdbc.dialect.MySqlDialect;
import io.mortise.jdbc.dialect.PostgresDialect;
import io.mortise.jdbc.dialect.ServerDatabase;
import io.mortise.jdbc.dialect.SqliteFile;
import io.mortise.jdbc.document.DocumentDatabase;
import io.mortise.jdbc.table.SqlText;
import io.mortise.spi.LockStore;
import io.mortise.spi.NameSuggestion;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.DurationText;
import io.mortise.spi.time.Ticker;
import io.mortise.spi.time.WallClock;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Stores kept in a database.
 *
 * <p>{@code jdbc:sqlite:/path/to/locks.db} keeps the locks of all processes of one host in a file;
 * {@code jdbc:postgresql://host/database}, {@code jdbc:mysql://host/database} and {@code
 * jdbc:mariadb://host/database} in that of a server; any other {@code jdbc:} URL in whatever
 * database its driver leads to, as H2, see docs/stores/other-databases.md. The driver has to be on
 * the class path. Behind the last question mark:
 *
 * <ul>
 *   <li>{@code namespace} keeps applications in one database apart; default {@code default}
 *   <li>{@code prefix} of the table names; default {@code mortise_}
 *   <li>{@code create=false} forbids to make file and tables, which is done on first use otherwise
 *   <li>{@code strict-expiry=true} has sessions expire by observed beats instead of the database's
 *       clock
 *   <li>{@code user}, {@code password} and {@code max-in-flight}, but for SQLite: the last bounds
 *       how long a request can be in flight; default {@code 5s}
 *   <li>{@code pooler=true} for PostgreSQL behind a pooler in transaction mode, see
 *       docs/guides/behind-pgbouncer.md
 *   <li>{@code driver.NAME} for the driver of another database, and {@code timeout}, which there is
 *       another name of {@code max-in-flight}; not both
 * </ul>
 *
 * <p>A server's driver is handed the parameters of its own that docs/stores lists, and no others; a
 * name that nobody knows is refused. A password is never shown.
 */
public final class JdbcStore {
  private static final Set<String> PARAMETERS =
      Set.of("namespace", "prefix", "create", "strict-expiry");
  private static final List<Dialect> DIALECTS =
      List.of(new PostgresDialect(), new MySqlDialect(), new MariaDbDialect());

  /**
   * A driver's URL up to the database; without a user, and without parameters in parentheses. An at
   * sign right behind the sub-protocol has no user in front of it.
   */
  private static final Pattern PLACE =
      Pattern.compile("(jdbc:[a-z0-9]+:(?:[a-z]+:)?@?[\\w./,:\\[\\]~%-]+)(?:[?;].*)?");

  private static final String SIZE =
      "Mortise keeps two connections of a pool, on PostgreSQL three: let the pool have so many besides those of the application.";

  private static final String POOLER = "pooler";
  private static final String IN_FLIGHT_LIMIT = "max-in-flight";
  private static final Duration MAX_IN_FLIGHT = Duration.ofSeconds(5);

  private static final String TIMEOUT = "timeout";

  private static final Duration LEAST_TIMEOUT = Duration.ofMillis(100);

  /** The scheme that opens those of all other databases. */
  private static final String OTHERS = "jdbc";

  private static final String H2_TIMEOUT = "NETWORK_TIMEOUT";

  /** Before the name of a parameter that is handed to the driver of another database. */
  private static final String DRIVER_PARAMETER = "driver.";

  private JdbcStore() {}

  /**
   * Opens the store of a URL. Blocks.
   *
   * @throws IllegalArgumentException if the URL has a wrong or unknown parameter
   * @throws StoreUnavailableException if the database cannot be reached now
   * @throws StoreUnfitException if it can, but must not be used as it is: a network file system, a
   *     file that is read-only or no database, a missing table
   */
  public static LockStore open(String url) {
    return open(StoreUrl.parse(url));
  }

  /**
   * Opens a store in the database of a data source: of any product except SQLite. Takes up to three
   * connections and keeps them until the store is closed; they come back with the auto-commit mode,
   * the read-only mode, the isolation, the network timeout and the session's settings that they
   * had. They are taken on threads of its own, so that none is that of a transaction of the
   * caller's. Blocks.
   *
   * @param parameters as behind the question mark of a URL: {@code namespace}, {@code prefix},
   *     {@code create}, {@code strict-expiry}, {@code max-in-flight}, {@code pooler}; may be empty
   * @throws IllegalArgumentException if there is a wrong or unknown parameter
   * @throws StoreUnavailableException if the database cannot be reached now
   * @throws StoreUnfitException if it is SQLite's, must not be used as it is, or if the data source
   *     has not two connections at one time
   */
  public static LockStore over(DataSource dataSource, String parameters) {
    StoreUrl given = StoreUrl.parse("jdbc:datasource:?" + parameters);
    given.allowOnly(with(Set.of(IN_FLIGHT_LIMIT, POOLER)));
    return CompletionStages.callDetached("mortise-open", () -> over(dataSource, given));
  }

  private static LockStore over(DataSource dataSource, StoreUrl given) {
    boolean pooler = given.flag(POOLER, false);
    Dialect known = null;
    String display;
    try (Connection first = dataSource.getConnection()) {
      known = dialect(first);
      String driverUrl = first.getMetaData().getURL();
      display = display(known == null ? "jdbc" : known.scheme(), driverUrl);
      refuseSingle(dataSource, first, known, display, pooler);
    } catch (SQLException e) {
      String message = "The data source gives no connection: " + e.getMessage();
      boolean unfit =
          (known == null ? DIALECTS : List.of(known))
              .stream()
                  .map(dialect -> dialect.reason(e))
                  .anyMatch(
                      reason ->
                          reason == Dialect.UnfitReason.NO_ENTRY
                              || reason == Dialect.UnfitReason.NO_KEY
                              || reason == Dialect.UnfitReason.NO_TLS);
      throw unfit ? new StoreUnfitException(message, e) : new StoreUnavailableException(message, e);
    }
    return known == null
        ? documents(given, display, dataSource::getConnection, true)
        : server(pooled(known, given), given, display, dataSource::getConnection, true);
  }

  /** Null for a product without a dialect of its own, whose locks are documents. */
  private static @Nullable Dialect dialect(Connection connection) throws SQLException {
    String name = connection.getMetaData().getDatabaseProductName();
    if (name.equalsIgnoreCase("SQLite")) {
      throw new StoreUnfitException(
          "The data source leads to a database of SQLite. Open it by its URL, jdbc:sqlite:.");
    }
    return DIALECTS.stream().filter(dialect -> dialect.isNamed(name)).findFirst().orElse(null);
  }

  /** Host and database of the driver's URL, if it has no other form: that may hold a secret. */
  private static String display(String scheme, @Nullable String driverUrl) {
    Matcher place = PLACE.matcher(String.valueOf(driverUrl));
    return place.matches() ? place.group(1) : scheme + ":(data source)";
  }

  /** Nothing was set on the connections yet: if both are one, it may be in use. */
  private static void refuseSingle(
      DataSource dataSource,
      Connection first,
      @Nullable Dialect dialect,
      String display,
      boolean pooler)
      throws SQLException {
    try (Connection second = dataSource.getConnection()) {
      if (!pooler && isSame(first, second, dialect)) {
        throw new StoreUnfitException(
            "The data source of store '%s' gives the same connection twice. %s Behind a pooler in transaction mode add pooler=true."
                .formatted(display, SIZE));
      }
      for (Connection each : new Connection[] {first, second}) {
        if (!each.getAutoCommit()) {
          // The settings of the pool itself in the transaction, such as its schema, stay.
          each.commit();
        }
      }
    } catch (SQLException e) {
      boolean isOther = dialect == null || dialect.reason(e) == Dialect.UnfitReason.OTHER;
      if (!isOther || !first.isValid(1)) {
        throw e;
      }
      throw new StoreUnfitException(
          "The data source of store '%s' gives no second connection: %s. %s"
              .formatted(
                  display,
                  FailureText.withoutFullStop(FailureText.quoted(String.valueOf(e.getMessage()))),
                  SIZE),
          e);
    }
  }

  /** By the server's id; where that is not known, by the driver's object. */
  private static boolean isSame(Connection first, Connection second, @Nullable Dialect dialect)
      throws SQLException {
    return dialect == null
        ? first.getMetaData().getConnection() == second.getMetaData().getConnection()
        : dialect.connectionId(first).equals(dialect.connectionId(second));
  }

  static Set<String> schemes() {
    Set<String> schemes = new TreeSet<>(Set.of(SqliteFile.SCHEME, OTHERS));
    DIALECTS.forEach(dialect -> schemes.add(dialect.scheme()));
    return schemes;
  }

  static LockStore open(StoreUrl url) {
    if (url.scheme().equals(SqliteFile.SCHEME)) {
      return sqlite(url);
    }
    for (Dialect dialect : DIALECTS) {
      if (url.scheme().equals(dialect.scheme())) {
        return server(pooled(dialect, url), url);
      }
    }
    return other(url);
  }

  private static LockStore sqlite(StoreUrl url) {
    url.allowOnly(PARAMETERS);
    SqlText text = new SqlText("sqlite", prefix(url));
    boolean strict = url.flag("strict-expiry", false);
    SqliteFile file =
        SqliteFile.open(
            url, text, namespace(url), url.flag("create", true), Ticker.SYSTEM, WallClock.SYSTEM);
    return JdbcLockStore.over(file, Ticker.SYSTEM).expiring(strict);
  }

  private static Dialect pooled(Dialect dialect, StoreUrl url) {
    return url.flag(POOLER, false) ? dialect.behindPooler(maxInFlight(url, dialect)) : dialect;
  }

  private static LockStore server(Dialect dialect, StoreUrl url) {
    Set<String> driverParameters = dialect.driverParameters();
    Set<String> known = with(Set.of(IN_FLIGHT_LIMIT, "user", "password", POOLER));
    known.addAll(driverParameters);
    url.allowOnly(known);
    Dialect.ConnectionTarget connectionTarget = dialect.target(url, maxInFlight(url, dialect));
    Properties properties = connectionTarget.properties();
    Set<String> handedOn = new HashSet<>(driverParameters);
    handedOn.addAll(Set.of("user", "password"));
    for (String name : handedOn) {
      String value = url.parameter(name);
      if (value != null) {
        properties.setProperty(name, value);
      }
    }
    ServerDatabase.ConnectionSource source = source(connectionTarget.url(), properties);
    // Threads of a driver inherit from the first that connects, and stay for as long as the JVM.
    return CompletionStages.callDetached(
        "mortise-open", () -> server(dialect, url, connectionTarget.display(), source, false));
  }

  private static ServerDatabase.ConnectionSource source(String driverUrl, Properties properties) {
    PasswordRedactor passwordRedactor = new PasswordRedactor(driverUrl, properties);
    return () -> {
      try {
        return DriverManager.getConnection(driverUrl, properties);
      } catch (SQLException e) {
        throw passwordRedactor.hide(e);
      }
    };
  }

  /**
   * A database of whatever product the URL leads to. A driver that wraps another may lead to one
   * that has a dialect, and is asked in that.
   */
  private static LockStore other(StoreUrl url) {
    Properties properties = new Properties();
    Set<String> known = with(Set.of(IN_FLIGHT_LIMIT, TIMEOUT, POOLER, "user", "password"));
    for (String name : url.parameterNames()) {
      boolean isOfDriver = name.startsWith(DRIVER_PARAMETER);
      if (isOfDriver || name.equals("user") || name.equals("password")) {
        String property = isOfDriver ? name.substring(DRIVER_PARAMETER.length()) : name;
        properties.setProperty(property, url.parameter(name, ""));
        known.add(name);
      }
    }
    url.allowOnly(known);
    Duration timeout = bounded(url, timeoutName(url), LEAST_TIMEOUT);
    if (url.scheme().equals("jdbc:h2")
        && !url.base().toUpperCase(Locale.ROOT).contains(";" + H2_TIMEOUT + "=")
        && properties.stringPropertyNames().stream().noneMatch(H2_TIMEOUT::equalsIgnoreCase)) {
      // Its driver takes no bound later, and no abort: a thread would wait for ever. Half of the
      // time is left to replace a connection that did not answer.
      properties.setProperty(H2_TIMEOUT, Long.toString(timeout.toMillis() / 2));
    }
    try {
      var unused = DriverManager.getDriver(url.base());
    } catch (SQLException e) {
      throw new StoreUnfitException(
          "No driver on the class path takes '%s'. %sAdd the driver of the database."
              .formatted(
                  url,
                  NameSuggestion.scheme(url.scheme(), schemes())
                      .map(meant -> "Did you mean '" + meant + ":'? ")
                      .orElse("")),
          e);
    }
    ServerDatabase.ConnectionSource source = source(url.base(), properties);
    String display = display(url.scheme(), url.base());
    Duration bound = timeout.multipliedBy(2);
    CompletableFuture<LockStore> opening =
        CompletionStages.detached("mortise-open", () -> other(url, display, source));
    CompletableFuture<LockStore> inTime =
        opening.copy().orTimeout(bound.toMillis(), TimeUnit.MILLISECONDS);
    return CompletionStages.join(
        inTime.exceptionallyCompose(failure -> late(opening, display, bound, failure)));
  }

  private static LockStore other(
      StoreUrl url, String display, ServerDatabase.ConnectionSource source) {
    Dialect wrapped;
    try (Connection first = source.connect()) {
      wrapped = dialect(first);
    } catch (SQLException e) {
      throw DocumentDatabase.refusal(e, display);
    }
    return wrapped == null
        ? documents(url, display, source, false)
        : server(pooled(wrapped, url), url, display, source, false);
  }

  /** Drivers that nobody knows may wait for ever. A store that is open too late is closed. */
  private static CompletableFuture<LockStore> late(
      CompletableFuture<LockStore> opening, String display, Duration bound, Throwable failure) {
    if (!(CompletionStages.cause(failure) instanceof TimeoutException timeout)) {
      return CompletableFuture.failedFuture(failure);
    }
    var unused = opening.thenAccept(LockStore::close);
    return CompletableFuture.failedFuture(
        new StoreUnavailableException(
            "The database cannot be opened (store=%s): it did not answer within %s. Check the address."
                .formatted(display, DurationText.format(bound)),
            timeout));
  }

  private static String timeoutName(StoreUrl url) {
    if (url.parameter(TIMEOUT) != null && url.parameter(IN_FLIGHT_LIMIT) != null) {
      throw new IllegalArgumentException(
          "Parameters '%s' and '%s' of store URL '%s' mean the same. Leave one of them out."
              .formatted(TIMEOUT, IN_FLIGHT_LIMIT, url));
    }
    return url.parameter(TIMEOUT) == null ? IN_FLIGHT_LIMIT : TIMEOUT;
  }

  private static LockStore documents(
      StoreUrl url, String display, ServerDatabase.ConnectionSource source, boolean borrows) {
    for (String name : new String[] {"strict-expiry", POOLER}) {
      if (url.parameter(name) != null) {
        throw new IllegalArgumentException(
            "Parameter '%s' is for databases that have a dialect here; for store '%s' leave it out."
                .formatted(name, display));
      }
    }
    return DocumentDatabase.open(
        source,
        borrows,
        new DocumentDatabase.Settings(
            display,
            prefix(url),
            namespace(url),
            bounded(url, timeoutName(url), LEAST_TIMEOUT),
            url.flag("create", true)),
        Ticker.SYSTEM,
        WallClock.SYSTEM);
  }

  private static LockStore server(
      Dialect dialect,
      StoreUrl url,
      String display,
      ServerDatabase.ConnectionSource connectionSource,
      boolean borrows) {
    ServerDatabase database =
        new ServerDatabase(
            dialect,
            connectionSource,
            borrows,
            display,
            prefix(url),
            namespace(url),
            maxInFlight(url, dialect));
    boolean strict = url.flag("strict-expiry", false);
    return JdbcLockStore.over(database.prepare(url.flag("create", true)), Ticker.SYSTEM)
        .expiring(strict);
  }

  private static Duration maxInFlight(StoreUrl url, Dialect dialect) {
    return bounded(url, timeoutName(url), dialect.leastInFlight());
  }

  private static Duration bounded(StoreUrl url, String parameter, Duration least) {
    Duration bound = url.duration(parameter, MAX_IN_FLIGHT);
    if (bound.compareTo(least) < 0 || bound.toMinutes() > 10) {
      throw new IllegalArgumentException(
          "Parameter '%s' of store URL '%s' is not within %s and 10m."
              .formatted(parameter, url, DurationText.formatExact(least)));
    }
    return bound;
  }

  private static Set<String> with(Set<String> more) {
    Set<String> known = new HashSet<>(PARAMETERS);
    known.addAll(more);
    return known;
  }

  private static String prefix(StoreUrl url) {
    return url.parameter("prefix", SqlText.DEFAULT_PREFIX);
  }

  private static String namespace(StoreUrl url) {
    String namespace = url.parameter("namespace", "default");
    if (namespace.isEmpty()
        || namespace.length() > 100
        || namespace.chars().anyMatch(Character::isISOControl)) {
      throw new IllegalArgumentException(
          "Parameter 'namespace' of store URL '%s' is not 1 to 100 characters without control characters."
              .formatted(url));
    }
    return namespace;
  }
}
