package io.mortise.jdbc;

import com.mysql.cj.jdbc.MysqlDataSource;
import io.mortise.testkit.server.LocalServer;
import io.mortise.testkit.server.LossyDisk;
import io.mortise.testserver.FakeClock;
import io.mortise.testserver.MariaDbServer;
import io.mortise.testserver.MySqlServer;
import io.mortise.testserver.PostgresServer;
import java.sql.SQLException;
import java.util.Optional;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.mariadb.jdbc.MariaDbDataSource;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * The databases that have servers; each starts one that a test may treat as it likes. Where there
 * is no such server the test is skipped, or on CI fails.
 */
public enum DatabaseProduct {
  POSTGRESQL {
    @Override
    public DataSource source(String url) {
      PGSimpleDataSource source = new PGSimpleDataSource();
      source.setUrl(url);
      return source;
    }

    @Override
    public LocalServer start(String... arguments) {
      return PostgresServers.V18.start(arguments);
    }

    @Override
    public LocalServer start(LossyDisk disk, String... arguments) {
      return PostgresServer.start(
          PostgresServers.V18.binaries(), disk, Optional.empty(), arguments);
    }

    @Override
    public LocalServer start(FakeClock clock) {
      return PostgresServers.V18.start(clock);
    }
  },
  MYSQL {
    @Override
    public DataSource source(String url) throws SQLException {
      MysqlDataSource source = new MysqlDataSource();
      source.setUrl(url);
      return source;
    }

    @Override
    public LocalServer start(String... arguments) {
      return MySqlServer.start(MySqlServers.MYSQL.program(), arguments);
    }

    @Override
    public LocalServer start(LossyDisk disk, String... arguments) {
      return MySqlServer.start(MySqlServers.MYSQL.program(), disk, arguments);
    }

    @Override
    public LocalServer start(FakeClock clock) {
      return MySqlServer.start(MySqlServers.MYSQL.program(), clock, "--disable-log-bin");
    }
  },
  MARIADB {
    @Override
    public DataSource source(String url) throws SQLException {
      return new MariaDbDataSource(url);
    }

    @Override
    public LocalServer start(String... arguments) {
      return MariaDbServer.start(MySqlServers.MARIADB.program(), arguments);
    }

    @Override
    public LocalServer start(LossyDisk disk, String... arguments) {
      return MariaDbServer.start(MySqlServers.MARIADB.program(), disk, arguments);
    }

    @Override
    public LocalServer start(FakeClock clock) {
      return MariaDbServer.start(MySqlServers.MARIADB.program(), clock);
    }
  };

  /**
   * Servers that ordinary tests run on: PostgreSQL and MariaDB; with the extended tests MySQL too.
   */
  public static Stream<DatabaseProduct> servers() {
    return Boolean.getBoolean("mortise.ci")
        ? Stream.of(POSTGRESQL, MYSQL, MARIADB)
        : Stream.of(POSTGRESQL, MARIADB);
  }

  /** New connections to one, as an application has them. */
  public abstract DataSource source(String url) throws SQLException;

  /** Starts one with these on its command line. */
  public abstract LocalServer start(String... arguments);

  /** The same, with its data on a disk that is closed after it. */
  public abstract LocalServer start(LossyDisk disk, String... arguments);

  /** Starts one that sees a clock, which is closed after it. */
  public abstract LocalServer start(FakeClock clock);
}
