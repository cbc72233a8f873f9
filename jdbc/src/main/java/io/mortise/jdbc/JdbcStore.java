package io.mortise.jdbc;

import io.mortise.spi.LockStore;
import io.mortise.spi.StoreUrl;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.HashSet;
import java.util.Locale;
import java.util.Properties;
import java.util.Set;
import javax.sql.DataSource;

/**
 * Stores kept in a database.
 *
 * <p>{@code jdbc:sqlite:/path/to/locks.db} keeps the locks of all processes of one host in a file;
 * {@code jdbc:h2:…} in an H2 database, embedded or a server. The driver has to be on the class
 * path. Behind the last question mark, and never shown to the driver:
 *
 * <ul>
 *   <li>{@code namespace} keeps applications in one database apart; default {@code default}
 *   <li>{@code prefix} of the table names; default {@code mortise_}
 *   <li>{@code create=false} forbids to make file and tables, which is done on first use otherwise
 *   <li>{@code user}, {@code password} and {@code maxInFlight} for H2: the last bounds how long a
 *       request can be under way; default {@code 5s}
 * </ul>
 */
public final class JdbcStore {
  private static final Set<String> PARAMETERS = Set.of("namespace", "prefix", "create");
  private static final Duration MAX_IN_FLIGHT = Duration.ofSeconds(5);

  private JdbcStore() {}

  /**
   * Opens the store of a URL. Blocks.
   *
   * @throws IllegalArgumentException if the URL has an unknown scheme, or a wrong or unknown
   *     parameter
   * @throws io.mortise.StoreUnavailableException if the database cannot be reached now
   * @throws io.mortise.StoreUnfitException if it can, but must not be used as it is: a network file
   *     system, a file that is read-only or no database, a missing table
   */
  public static LockStore open(String url) {
    return open(StoreUrl.parse(url));
  }

  /**
   * Opens a store in the H2 database of a data source. Takes two connections and keeps them until
   * the store is closed; they come back with another lock and query timeout than they had. Blocks.
   *
   * @param parameters as behind the question mark of a URL: {@code namespace}, {@code prefix},
   *     {@code create}, {@code maxInFlight}; may be empty
   * @throws IllegalArgumentException if there is a wrong or unknown parameter
   * @throws io.mortise.StoreUnavailableException if the database cannot be reached now
   * @throws io.mortise.StoreUnfitException if it is no H2, or must not be used as it is
   */
  public static LockStore openH2(DataSource dataSource, String parameters) {
    StoreUrl url = StoreUrl.parse("jdbc:h2:(data source)?" + parameters);
    url.allowOnly(with("maxInFlight"));
    return h2(url, "jdbc:h2:(data source)", dataSource::getConnection);
  }

  static LockStore open(StoreUrl url) {
    return switch (url.scheme()) {
      case SqliteFile.SCHEME -> sqlite(url);
      case H2Database.SCHEME -> h2(url);
      default ->
          throw new IllegalArgumentException(
              "No database store has the scheme of '"
                  + url
                  + "'. Known: "
                  + SqliteFile.SCHEME
                  + ", "
                  + H2Database.SCHEME
                  + ".");
    };
  }

  private static LockStore sqlite(StoreUrl url) {
    url.allowOnly(PARAMETERS);
    return JdbcLockStore.over(
        SqliteFile.open(url, text("sqlite", url), namespace(url), url.flag("create", true)));
  }

  private static LockStore h2(StoreUrl url) {
    url.allowOnly(with("maxInFlight", "user", "password"));
    String base = url.base();
    String lower = base.toLowerCase(Locale.ROOT);
    if (lower.equals("jdbc:h2:mem:") || lower.startsWith("jdbc:h2:mem:;")) {
      throw new IllegalArgumentException(
          "Store URL '"
              + url
              + "' names a database that no second connection can reach. Write jdbc:h2:mem:name.");
    }
    boolean remote = lower.startsWith("jdbc:h2:tcp:") || lower.startsWith("jdbc:h2:ssl:");
    // Else a connection that died without a word would be waited for without end.
    String bounded =
        remote && !lower.contains(";network_timeout=")
            ? base + ";NETWORK_TIMEOUT=" + maxInFlight(url).toMillis()
            : base;
    Properties credentials = new Properties();
    for (String name : new String[] {"user", "password"}) {
      String value = url.parameter(name);
      if (value != null) {
        credentials.setProperty(name, value);
      }
    }
    int settings = base.indexOf(';');
    return h2(
        url,
        settings < 0 ? base : base.substring(0, settings),
        () -> DriverManager.getConnection(bounded, credentials));
  }

  private static LockStore h2(StoreUrl url, String display, H2Database.Source source) {
    H2Database database =
        new H2Database(source, display, text("h2", url), namespace(url), maxInFlight(url));
    return JdbcLockStore.over(database.prepare(url.flag("create", true)));
  }

  private static Duration maxInFlight(StoreUrl url) {
    Duration bound = url.duration("maxInFlight", MAX_IN_FLIGHT);
    if (bound.toMillis() < 100 || bound.toMinutes() > 10) {
      throw new IllegalArgumentException(
          "Parameter 'maxInFlight' of store URL '" + url + "' is not within 100ms and 10m.");
    }
    return bound;
  }

  private static Set<String> with(String... more) {
    Set<String> known = new HashSet<>(PARAMETERS);
    known.addAll(Set.of(more));
    return known;
  }

  private static SqlText text(String dialect, StoreUrl url) {
    return new SqlText(dialect, url.parameter("prefix", SqlText.DEFAULT_PREFIX));
  }

  private static String namespace(StoreUrl url) {
    String namespace = url.parameter("namespace", "default");
    if (namespace.isEmpty()
        || namespace.length() > 100
        || namespace.chars().anyMatch(Character::isISOControl)) {
      throw new IllegalArgumentException(
          "Parameter 'namespace' of store URL '"
              + url
              + "' is not 1 to 100 characters without control characters.");
    }
    return namespace;
  }
}
