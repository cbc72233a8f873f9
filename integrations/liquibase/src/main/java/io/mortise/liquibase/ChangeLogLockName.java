package io.mortise.liquibase;

import io.mortise.LockName;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The name of the lock of a database's change log. */
final class ChangeLogLockName {
  private static final String PREFIX = "liquibase/";

  /** Parameters, in the forms of PostgreSQL and MySQL, of SQL Server and H2, and of Db2. */
  private static final Pattern PARAMETERS = Pattern.compile("([?;]|:\\w+=).*", Pattern.DOTALL);

  /** A parameter of SQL Server; its value may be in braces, where a closing one is doubled. */
  private static final Pattern SQL_SERVER_PARAMETER =
      Pattern.compile(";\\s*(\\w+)\\s*=\\s*(\\{(?:[^}]|}})*}|[^;]*)");

  /** Parameters of SQL Server that identify the database, by all their names. */
  private static final Map<String, String> SQL_SERVER_PLACE =
      Map.of(
          "servername", "serverName",
          "server", "serverName",
          "instancename", "instanceName",
          "instance", "instanceName",
          "portnumber", "portNumber",
          "port", "portNumber",
          "databasename", "databaseName",
          "database", "databaseName");

  /** {@code user:password@} behind the slashes, and Oracle's {@code user/password@}. */
  private static final Pattern CREDENTIALS =
      Pattern.compile("(//|:thin:|:oci:)[^@]*@", Pattern.CASE_INSENSITIVE);

  private ChangeLogLockName() {}

  /**
   * The database without parameters, which differ between clients, and without credentials, which
   * inspection of locks must not show. Parameters that name the server or the database are kept, in
   * one order.
   *
   * @param schema of the change log's tables; null if the database reports none
   */
  static String of(String jdbcUrl, @Nullable String schema) {
    String place = PARAMETERS.matcher(jdbcUrl).replaceFirst("");
    place = CREDENTIALS.matcher(place).replaceFirst("$1") + sqlServerPlace(jdbcUrl);
    String text = place + (schema == null ? "" : "/" + schema);
    try {
      return LockName.of(PREFIX + text).value();
    } catch (IllegalArgumentException e) {
      return PREFIX + "sha256/" + sha256(text);
    }
  }

  private static String sqlServerPlace(String jdbcUrl) {
    if (!jdbcUrl.regionMatches(true, 0, "jdbc:sqlserver:", 0, "jdbc:sqlserver:".length())
        && !jdbcUrl.regionMatches(true, 0, "jdbc:jtds:", 0, "jdbc:jtds:".length())) {
      return "";
    }
    Map<String, String> kept = new TreeMap<>();
    Matcher parameter = SQL_SERVER_PARAMETER.matcher(jdbcUrl);
    while (parameter.find()) {
      String name = SQL_SERVER_PLACE.get(parameter.group(1).toLowerCase(Locale.ROOT));
      if (name != null) {
        kept.put(name, parameter.group(2).strip());
      }
    }
    StringBuilder text = new StringBuilder();
    kept.forEach((name, value) -> text.append(';').append(name).append('=').append(value));
    return text.toString();
  }

  private static String sha256(String text) {
    try {
      return HexFormat.of()
          .formatHex(
              MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Each Java platform has SHA-256.", e);
    }
  }
}
