package io.mortise.liquibase;

import io.mortise.LockName;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The name of the lock of a database's change log. */
final class ChangeLogLockName {
  private static final String PREFIX = "liquibase/";

  /** Parameters, in the forms of PostgreSQL and MySQL, and of SQL Server and H2. */
  private static final Pattern PARAMETERS = Pattern.compile("[?;].*", Pattern.DOTALL);

  /** {@code user:password@} behind the slashes, and Oracle's {@code user/password@}. */
  private static final Pattern CREDENTIALS =
      Pattern.compile("(//|:thin:|:oci:)[^@]*@", Pattern.CASE_INSENSITIVE);

  private ChangeLogLockName() {}

  /**
   * The database without parameters, which differ from one client to the next, and without
   * credentials, which are not for the eyes of people who look at locks.
   *
   * @param schema of the change log's tables; null if the database tells none
   */
  static String of(String jdbcUrl, @Nullable String schema) {
    String place = PARAMETERS.matcher(jdbcUrl).replaceFirst("");
    place = CREDENTIALS.matcher(place).replaceFirst("$1");
    String text = place + (schema == null ? "" : "/" + schema);
    try {
      return LockName.of(PREFIX + text).value();
    } catch (IllegalArgumentException e) {
      return PREFIX + "sha256/" + sha256(text);
    }
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
