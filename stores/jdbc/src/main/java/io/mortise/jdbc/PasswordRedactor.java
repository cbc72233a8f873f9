package io.mortise.jdbc;

import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import java.util.Properties;

/** The passwords that a driver was given, which its messages may quote. */
final class PasswordRedactor {
  /** A shorter one would be found in words that have nothing to do with it. */
  private static final int SHORTEST = 4;

  private static final String SHOWN = "***";

  private final List<String> given;

  /** All of these settings whose names end with "password". */
  PasswordRedactor(Properties settings) {
    given =
        settings.stringPropertyNames().stream()
            .filter(name -> name.toLowerCase(Locale.ROOT).endsWith("password"))
            .map(settings::getProperty)
            .filter(value -> value.length() >= SHORTEST)
            .toList();
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
