package io.mortise.sql;

import io.mortise.UnsupportedByStoreException;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.util.Locale;

/** The databases that the helpers know; each has a folder of SQL files. */
enum HelperDialect {
  POSTGRESQL("PostgreSQL"),
  MYSQL("MySQL"),
  MARIADB("MariaDB"),
  H2("H2"),
  SQLITE("SQLite");

  private final String product;

  HelperDialect(String product) {
    this.product = product;
  }

  /**
   * The dialect of a connection.
   *
   * @throws UnsupportedByStoreException if it is none of these
   */
  static HelperDialect of(Connection connection) throws SQLException {
    DatabaseMetaData about = connection.getMetaData();
    String name = about.getDatabaseProductName();
    for (HelperDialect helperDialect : values()) {
      if (name.equalsIgnoreCase(helperDialect.product)) {
        // MySQL's driver calls every server MySQL.
        return helperDialect == MYSQL && about.getDatabaseProductVersion().contains("MariaDB")
            ? MARIADB
            : helperDialect;
      }
    }
    throw new UnsupportedByStoreException(
        "The SQL helpers do not know the database '%s'. Known: PostgreSQL, MySQL, MariaDB, H2, SQLite."
            .formatted(name));
  }

  String folder() {
    return name().toLowerCase(Locale.ROOT);
  }

  boolean isMySqlLike() {
    return this == MYSQL || this == MARIADB;
  }

  /** Whether it is always reached over a network. */
  boolean isServer() {
    return this != H2 && this != SQLITE;
  }

  /** Whether a row was refused because one with its key is there. */
  boolean isDuplicate(SQLException error) {
    return switch (this) {
      case POSTGRESQL, H2 -> "23505".equals(error.getSQLState());
      case MYSQL, MARIADB -> error.getErrorCode() == 1062 || error.getErrorCode() == 1586;
      // Result codes SQLITE_CONSTRAINT_PRIMARYKEY and _UNIQUE; drivers tell the first byte only.
      case SQLITE ->
          error.getErrorCode() == 19 && String.valueOf(error.getMessage()).contains("UNIQUE");
    };
  }

  /** Whether a lock was not had at once, or within the time set for it. */
  boolean isLockTimeout(SQLException error) {
    return switch (this) {
      case POSTGRESQL -> "55P03".equals(error.getSQLState());
      case MYSQL, MARIADB -> error.getErrorCode() == 1205 || error.getErrorCode() == 3572;
      case H2 -> error.getErrorCode() == 50200;
      case SQLITE -> error.getErrorCode() == 5;
    };
  }

  /**
   * Refuses the levels at which H2 reads what was there before the wait for a row, unless the row's
   * values changed meanwhile: a write that leaves them as they are counts for nothing there.
   *
   * @param highest the highest level at which what is read afterwards has no such snapshot yet
   * @throws IllegalStateException if the connection's is higher
   */
  void refuseOldSnapshot(Connection connection, String what, int highest) throws SQLException {
    if (this == H2 && connection.getTransactionIsolation() > highest) {
      throw new IllegalStateException(
          what
              + " does not hold on H2 at this isolation level: the transaction would read what was there before it"
              + " waited. Set READ COMMITTED.");
    }
  }

  @Override
  public String toString() {
    return product;
  }
}
