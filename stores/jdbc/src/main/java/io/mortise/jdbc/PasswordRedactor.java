package io.mortise.jdbc;

import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The passwords that a driver was given, which its messages may quote. */
final class PasswordRedactor {
  /** A shorter one would be found in words that have nothing to do with it. */
  private static final int SHORTEST = 4;

  private static final String SHOWN = "***";

  /** A setting within a driver's URL, or what stands there before its host. */
  private static final Pattern IN_URL =
      Pattern.compile(
          "(?i)\\b\\w*(?:password|pwd|secret)\\s*=\\s*([^;&?,)\\s]+)|(?<![:/])[:/]([^:/;&?@\\s]+)@");

  private final List<String> given;

  /** All settings whose names end with "password", and the passwords within the driver's URL. */
  PasswordRedactor(String driverUrl, Properties settings) {
    Stream<String> inProperties =
        settings.stringPropertyNames().stream()
            .filter(name -> name.toLowerCase(Locale.ROOT).endsWith("password"))
            .map(settings::getProperty);
    Stream<String> inUrl =
        IN_URL
            .matcher(driverUrl)
            .results()
            .map(found -> found.group(1) == null ? found.group(2) : found.group(1));
    given = Stream.concat(inProperties, inUrl).filter(value -> value.length() >= SHORTEST).toList();
  }

  /** The same error, or a copy of it and of its causes without them. */
  SQLException hide(SQLException error) {
    return isIn(error) ? (SQLException) copy(error) : error;
  }

  private boolean isIn(Throwable error) {
    for (Throwable each = error; each != null; each = each.getCause()) {
      String text = each.toString();
      if (!text.equals(hide(text))) {
        return true;
      }
    }
    return false;
  }

  private String hide(String text) {
    String shown = text;
    for (String password : given) {
      shown = shown.replace(password, SHOWN);
    }
    return shown;
  }

  /** What kind of exception a cause was is kept in its text. */
  private Throwable copy(Throwable error) {
    Throwable copy =
        error instanceof SQLException sql
            ? new SQLException(
                hide(String.valueOf(sql.getMessage())), sql.getSQLState(), sql.getErrorCode())
            : new IllegalStateException(hide(error.toString()));
    copy.setStackTrace(error.getStackTrace());
    Throwable cause = error.getCause();
    if (cause != null) {
      copy.initCause(copy(cause));
    }
    return copy;
  }
}
