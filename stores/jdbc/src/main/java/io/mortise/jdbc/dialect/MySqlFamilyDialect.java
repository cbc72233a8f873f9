package io.mortise.jdbc.dialect;

import io.mortise.StoreUnfitException;
import io.mortise.jdbc.table.Database.ErrorKind;
import io.mortise.jdbc.table.MySqlTransactions;
import io.mortise.jdbc.table.NamedStatement;
import io.mortise.jdbc.table.SqlText;
import io.mortise.jdbc.table.StoreConnection;
import io.mortise.spi.SessionId;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreUrl;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The common part of MySQL and MariaDB. Statements read the time in UTC by SYSDATE, once they have
 * the row: NOW would be the start of a statement that has waited.
 *
 * <p>READ COMMITTED, in which InnoDB locks no gaps but where two inserts of one key meet: steps on
 * different locks do not get into each other's way.
 */
abstract sealed class MySqlFamilyDialect implements Dialect permits MySqlDialect, MariaDbDialect {
  private static final Logger log = LoggerFactory.getLogger(MySqlFamilyDialect.class);

  /** Has the statements of both. */
  static final String FOLDER = "mysql";

  /**
   * Then the server ends a connection, and gives up what a process that vanished in the middle of a
   * transaction has locked.
   */
  private static final Duration IDLE = Duration.ofSeconds(60);

  /**
   * The shortest wait for a locked row that these servers know; an executor stands still for so
   * long.
   */
  private static final Duration ROW_WAIT = Duration.ofSeconds(1);

  private static final Pattern URL = Pattern.compile("jdbc:[a-z]+://[^/?]+/[^/?]+");
  private static final Pattern NO_TLS =
      Pattern.compile(
          "(?i)ssl not enabled in the server|SSL Connection required, but not provided");
  private static final Pattern NO_KEY =
      Pattern.compile("(?i)public key retrieval is not allowed|RSA public key is not available");
  private static final Pattern READ_ONLY = Pattern.compile("(?i)read[-_]only");
  private static final Pattern USER_INFO = Pattern.compile("//[^/]*@");
  private static final Pattern VERSION = Pattern.compile("(\\d+)\\.(\\d+)(?:\\.(\\d+))?.*");

  /** The lowest version, as {@link #number} counts. */
  abstract int lowest();

  /** Whether a server that calls itself by this version is of this product. */
  abstract boolean isOurs(String version);

  /** Whether an insert can return rows. */
  abstract boolean returnsRows();

  @Override
  public Duration idleLimit() {
    return IDLE.dividedBy(2);
  }

  /**
   * Nothing there can push, and a look is one short statement; a session that waits long looks less
   * often.
   */
  @Override
  public Duration poll() {
    return Duration.ofNanos(400_000);
  }

  @Override
  public boolean hasConnectionLocks() {
    return true;
  }

  @Override
  public int batch() {
    return 128;
  }

  @Override
  public Duration leastInFlight() {
    // Servers count waits for rows in whole seconds, and a quarter of it must be one.
    return Duration.ofSeconds(4);
  }

  @Override
  public ConnectionTarget target(StoreUrl url, Duration maxInFlight) {
    if (!URL.matcher(url.base()).matches()) {
      throw new IllegalArgumentException(
          "Store URL '%s' names no database. Write %s://host:3306/database?user=…"
              .formatted(url, scheme()));
    }
    if (USER_INFO.matcher(url.base()).find()) {
      throw new IllegalArgumentException(
          "Store URL '"
              + url
              + "' has a user in front of the host. Write ?user=…&password=…: not every driver knows "
              + "it there, and one quotes the password in its messages.");
    }
    Properties properties = new Properties();
    String bound = Long.toString(maxInFlight.toMillis());
    properties.setProperty("connectTimeout", bound);
    // For the greeting; afterwards what setUp says is in force.
    properties.setProperty("socketTimeout", bound);
    properties.setProperty("tcpKeepAlive", "true");
    properties.setProperty("useServerPrepStmts", "true");
    // The texts are ours, and values in them are the driver's to quote.
    properties.setProperty("allowMultiQueries", "true");
    // A server that is not the right one could ask for any file that this process may read. The
    // first is MariaDB's name of it, the second MySQL's.
    properties.setProperty("allowLocalInfile", "false");
    properties.setProperty("allowLoadLocalInfile", "false");
    return new ConnectionTarget(url.base(), properties, url.base());
  }

  /** The rest is done by {@link #setUp}, each time: a name may lead to another server by now. */
  @Override
  public void check(Connection connection, String store) throws SQLException {
    String flush = variables(connection).getOrDefault("innodb_flush_log_at_trx_commit", "1");
    if (!flush.equals("1")) {
      log.warn(
          "{} runs with innodb_flush_log_at_trx_commit={}: a crash may forget who has just got a lock",
          store,
          flush);
    }
  }

  private void checkVersion(String version, String store) {
    if (!isOurs(version) || number(version) < lowest()) {
      throw new StoreUnfitException(
          "%s is version %s. Expected %s %s.%s.%s or later; MySQL has URLs that begin with jdbc:mysql: and MariaDB jdbc:mariadb:."
              .formatted(
                  store,
                  version,
                  product(),
                  lowest() / 1_000_000,
                  lowest() / 1000 % 1000,
                  lowest() % 1000));
    }
  }

  private static void checkWrites(Map<String, String> variables, String store) {
    for (String name : new String[] {"read_only", "super_read_only", "innodb_read_only"}) {
      String value = variables.getOrDefault(name, "OFF");
      if (!value.equals("OFF") && !value.equals("0")) {
        throw StoreUnfitException.notWritable(
            store + " is read-only (" + name + "=" + value + "). A lock needs to write.");
      }
    }
    if (variables.getOrDefault("log_bin", "OFF").equals("ON")
        && variables.getOrDefault("binlog_format", "ROW").equals("STATEMENT")) {
      throw new StoreUnfitException(
          "%s writes its binary log with binlog_format=STATEMENT, which cannot repeat what depends on time. Set it to ROW or MIXED."
              .formatted(store));
    }
  }

  private Map<String, String> variables(Connection connection) throws SQLException {
    return variables(connection, text().statement("server"));
  }

  /** Reads settings of the server: names in lower case, and values. */
  static Map<String, String> variables(Connection connection, SqlText.SqlStatement asking)
      throws SQLException {
    Map<String, String> variables = new HashMap<>();
    try (NamedStatement namedStatement = new NamedStatement(connection, asking);
        ResultSet row = namedStatement.query()) {
      while (row.next()) {
        variables.put(row.getString(1).toLowerCase(Locale.ROOT), row.getString(2));
      }
    }
    return variables;
  }

  private SqlText text() {
    return new SqlText(folders(), SqlText.DEFAULT_PREFIX);
  }

  /** 10.6.12 as 10006012. */
  private static int number(String version) {
    Matcher parts = VERSION.matcher(version);
    if (!parts.matches()) {
      return 0;
    }
    String patch = parts.group(3);
    return Integer.parseInt(parts.group(1)) * 1_000_000
        + Integer.parseInt(parts.group(2)) * 1000
        + (patch == null ? 0 : Integer.parseInt(patch));
  }

  @Override
  public Optional<String> setUp(Connection connection, String store, Duration maxInFlight)
      throws SQLException {
    Map<String, String> variables = variables(connection);
    checkVersion(variables.getOrDefault("version", ""), store);
    checkWrites(variables, store);
    connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
    connection.setNetworkTimeout(Runnable::run, (int) maxInFlight.toMillis());
    // An even number of quarters: a step that waits twice, on its last try, must end in time.
    long half = Math.max(2, maxInFlight.toSeconds() / 4 * 2);
    try (NamedStatement namedStatement =
        new NamedStatement(connection, text().statement("setup"))) {
      namedStatement
          .set("wait_s", ROW_WAIT.toSeconds())
          .set("statement_s", half)
          .set("idle_s", Math.max(IDLE.toSeconds(), maxInFlight.toSeconds()))
          .update();
    }
    return Optional.empty();
  }

  @Override
  public StoreConnection storeConnection(
      Connection connection, SqlText text, String namespace, Predicate<SessionId> isLocal)
      throws SQLException {
    return MySqlTransactions.connection(connection, text, namespace, isLocal, returnsRows());
  }

  @Override
  public StoreReport examine(Connection connection) throws SQLException {
    return new MySqlSettingsReport(folder(), text()).of(connection);
  }

  @Override
  public ErrorKind errorKind(SQLException error) {
    return switch (error.getErrorCode()) {
      // Wait for a row too long, deadlock, skipped, two first inserts of one row, changed since.
      case 1205, 1213, 3572, 1062, 1020 -> ErrorKind.BUSY;
      // Statement too long or interrupted, table changed meanwhile, must be prepared anew.
      case 1317, 1969, 3024, 1412, 1615 -> ErrorKind.BUSY;
      // No room on the disk, in the table.
      case 1021, 1114 -> ErrorKind.FULL;
      case 1290 -> namesReadOnly(error) ? ErrorKind.READ_ONLY : ErrorKind.UNFIT;
      // The transaction, the server, the table are read-only.
      case 1792, 1836, 1036 -> ErrorKind.READ_ONLY;
      // Rights, no such database, table or column, binary log of statements.
      case 1044, 1045, 1142, 1143, 1227, 1049, 1146, 1054, 1665 -> ErrorKind.UNFIT;
      // Logins that are refused, no database.
      case 1251, 1698, 1820, 1862, 3118, 1046 -> ErrorKind.UNFIT;
      // Data of a wrong form: a bug, but no reason to drop the connection.
      case 1064, 1264, 1267, 1366, 1406, 1690 -> ErrorKind.UNFIT;
      default -> hasNoKey(error) || hasNoTls(error) ? ErrorKind.UNFIT : ErrorKind.BROKEN;
    };
  }

  @Override
  public UnfitReason reason(SQLException error) {
    return switch (error.getErrorCode()) {
      case 1045, 1251, 1698, 1820, 1862, 3118 -> UnfitReason.NO_ENTRY;
      case 1044, 1142, 1143, 1227 -> UnfitReason.NO_RIGHT;
      case 1046, 1049 -> UnfitReason.NO_DATABASE;
      case 1071 -> UnfitReason.PAGE_SIZE;
      case 1290 -> namesReadOnly(error) ? UnfitReason.READ_ONLY : UnfitReason.SETTING;
      case 1792, 1836, 1036 -> UnfitReason.READ_ONLY;
      case 1040, 1203, 1226 -> UnfitReason.TOO_MANY_CONNECTIONS;
      default ->
          hasNoKey(error)
              ? UnfitReason.NO_KEY
              : hasNoTls(error) ? UnfitReason.NO_TLS : UnfitReason.OTHER;
    };
  }

  /** Error 1290 names the option that forbids the statement, which may be any. */
  private static boolean namesReadOnly(SQLException error) {
    return READ_ONLY.matcher(String.valueOf(error.getMessage())).find();
  }

  /** Neither driver has a code for it. The server asks for it unless it remembers the password. */
  private static boolean hasNoKey(SQLException error) {
    return NO_KEY.matcher(String.valueOf(error.getMessage())).find();
  }

  /** Neither driver has a code for it. */
  private static boolean hasNoTls(SQLException error) {
    return Dialect.isUntrusted(error) || NO_TLS.matcher(String.valueOf(error.getMessage())).find();
  }
}
