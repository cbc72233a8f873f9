package io.mortise.bench.subject;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.mortise.bench.subject.Subjects.SubjectStore;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A database, with a connection for each calling thread, or a pool. Thread-safe. */
final class BenchDatabase implements AutoCloseable {
  /** SQLSTATE: the table or row exists. */
  private static final String DUPLICATE = "23505";

  /** The pool size of a typical application, rather than one for each of 64 threads. */
  private static final int POOL = 16;

  private final SubjectStore storeKind;
  private final String url;
  private final Map<Thread, Connection> open = new ConcurrentHashMap<>();

  BenchDatabase(StoreUrls storeUrls, SubjectStore storeKind) {
    this.storeKind = storeKind;
    // MariaDB's driver serves both.
    this.url = storeUrls.url(storeKind).replaceFirst("^jdbc:mysql:", "jdbc:mariadb:");
  }

  /** Makes the tables of the hand-written protocols and of the peers, unless they are there. */
  BenchDatabase prepare() throws SQLException {
    try (Statement statement = connection().createStatement()) {
      for (String ddl : schema().split(";", -1)) {
        if (!ddl.isBlank()) {
          make(statement, ddl);
        }
      }
    } finally {
      closeMine();
    }
    return this;
  }

  /** PostgreSQL refuses one of two concurrent creations of a table, in spite of IF NOT EXISTS. */
  private static void make(Statement statement, String ddl) throws SQLException {
    try {
      statement.execute(ddl);
    } catch (SQLException e) {
      if (!DUPLICATE.equals(e.getSQLState())) {
        throw e;
      }
      statement.execute(ddl);
    }
  }

  private static String schema() {
    try (InputStream in = BenchDatabase.class.getResourceAsStream("tables.sql")) {
      return new String(
          java.util.Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  SubjectStore place() {
    return storeKind;
  }

  /**
   * An insert that leaves an existing row unchanged.
   *
   * @param row table, columns and values
   */
  String insertOnce(String row) {
    return switch (storeKind) {
      case MARIADB, MYSQL -> "insert ignore into " + row;
      default -> "insert into " + row + " on conflict do nothing";
    };
  }

  HikariDataSource pool() {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setMaximumPoolSize(POOL);
    return new HikariDataSource(config);
  }

  /** The connection of this thread. */
  Connection connection() throws SQLException {
    Connection mine = open.get(Thread.currentThread());
    if (mine == null) {
      mine = DriverManager.getConnection(url);
      if (storeKind == SubjectStore.SQLITE) {
        try (Statement settings = mine.createStatement()) {
          settings.execute("pragma busy_timeout = 20000");
          settings.execute("pragma journal_mode = wal");
          settings.execute("pragma synchronous = normal");
        }
      }
      open.put(Thread.currentThread(), mine);
    }
    return mine;
  }

  void closeMine() throws SQLException {
    Connection mine = open.remove(Thread.currentThread());
    if (mine != null) {
      mine.close();
    }
  }

  @Override
  public void close() {
    for (Connection connection : open.values()) {
      try {
        connection.close();
      } catch (SQLException e) {
        throw new IllegalStateException(e);
      }
    }
    open.clear();
  }
}
