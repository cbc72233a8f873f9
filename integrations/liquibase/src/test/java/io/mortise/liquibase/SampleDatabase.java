package io.mortise.liquibase;

import java.sql.DriverManager;
import java.util.concurrent.atomic.AtomicInteger;
import liquibase.database.Database;
import liquibase.database.DatabaseFactory;
import liquibase.database.jvm.JdbcConnection;

/** Databases to migrate, in memory. */
final class SampleDatabase {
  private static final AtomicInteger NAMES = new AtomicInteger();

  private SampleDatabase() {}

  /** Lives as long as the JVM. */
  static String newUrl() {
    return "jdbc:h2:mem:app" + NAMES.incrementAndGet() + ";DB_CLOSE_DELAY=-1";
  }

  static Database open(String url) throws Exception {
    return DatabaseFactory.getInstance()
        .findCorrectDatabaseImplementation(new JdbcConnection(DriverManager.getConnection(url)));
  }

  static String lockName(String url) {
    return "liquibase/" + url.replaceFirst(";.*", "") + "/PUBLIC";
  }
}
