package io.mortise.jdbc;

import io.mortise.spi.LockStore;
import io.mortise.spi.StoreUrl;
import java.util.Set;

/**
 * Stores kept in a database.
 *
 * <p>{@code jdbc:sqlite:/path/to/locks.db} keeps the locks of all processes of one host in a file;
 * {@code jdbc:h2:…} in an H2 database. The driver has to be on the class path. Behind the last
 * question mark, and never shown to the driver:
 *
 * <ul>
 *   <li>{@code namespace} keeps applications in one database apart; default {@code default}
 *   <li>{@code prefix} of the table names; default {@code mortise_}
 *   <li>{@code create=false} forbids to make file and tables, which is done on first use otherwise
 * </ul>
 */
public final class JdbcStore {
  private static final Set<String> PARAMETERS = Set.of("namespace", "prefix", "create");

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

  static LockStore open(StoreUrl url) {
    if (url.scheme().equals(SqliteFile.SCHEME)) {
      url.allowOnly(PARAMETERS);
      SqlText text = new SqlText("sqlite", url.parameter("prefix", SqlText.DEFAULT_PREFIX));
      return JdbcLockStore.over(
          SqliteFile.open(url, text, namespace(url), url.flag("create", true)));
    }
    throw new IllegalArgumentException(
        "No database store has the scheme of '" + url + "'. Known: " + SqliteFile.SCHEME + ".");
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
