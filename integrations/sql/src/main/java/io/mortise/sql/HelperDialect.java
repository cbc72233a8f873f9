package io.mortise.sql;

import io.mortise.UnsupportedByStoreException;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.util.Locale;

/** The databases that the helpers support; each has a folder of SQL files. */
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
   * @throws UnsupportedByStoreException if the database is another
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

  /** Whether a row was refused because its key exists. */
  boolean isDuplicate(SQLException error) {
    return switch (this) {
      case POSTGRESQL, H2 -> "23505".equals(error.getSQLState());
      case MYSQL, MARIADB -> error.getErrorCode() == 1062 || error.getErrorCode() == 1586;
      // Result codes SQLITE_CONSTRAINT_PRIMARYKEY and _UNIQUE; drivers report the first byte only.
      case SQLITE ->
          error.getErrorCode() == 19 && String.valueOf(error.getMessage()).contains("UNIQUE");
    };
  }

  /** Whether a lock was not available at once, or within the given time. */
  boolean isLockTimeout(SQLException error) {
    return switch (this) {
      case POSTGRESQL -> "55P03".equals(error.getSQLState());
      case MYSQL, MARIADB -> error.getErrorCode() == 1205 || error.getErrorCode() == 3572;
      case H2 -> error.getErrorCode() == 50200;
      case SQLITE -> error.getErrorCode() == 5;
    };
  }

  /**
   * Refuses the levels at which H2 reads data from before the wait for a row, unless the row's
   * values changed meanwhile: a write of equal values does not count there.
   *
   * @param highest the highest level at which later reads have no such snapshot yet
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
