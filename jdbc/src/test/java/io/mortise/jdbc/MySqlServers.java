package io.mortise.jdbc;

import io.mortise.testkit.server.MariaDbServer;
import io.mortise.testkit.server.MySqlServer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;

/** One server of each product serves all tests of the JVM. */
abstract class MySqlServers {
  static final MySqlServers MYSQL = new MySql();
  static final MySqlServers MARIADB = new MariaDb();

  private static final class MySql extends MySqlServers {
    private MySqlServer server;

    @Override
    Optional<Path> find() {
      return MySqlServer.bundled();
    }

    @Override
    void start(Path program) {
      if (server == null) {
        server = MySqlServer.start(program);
      }
    }

    @Override
    String startedUrl() {
      return server.url();
    }

    @Override
    void kill() {
      server.kill();
    }

    @Override
    void restart() {
      server.restart();
    }
  }

  private static final class MariaDb extends MySqlServers {
    private MariaDbServer server;

    @Override
    Optional<Path> find() {
      return MariaDbServer.installed();
    }

    @Override
    void start(Path program) {
      if (server == null) {
        server = MariaDbServer.start(program);
      }
    }

    @Override
    String startedUrl() {
      return server.url();
    }

    @Override
    void kill() {
      server.kill();
    }

    @Override
    void restart() {
      server.restart();
    }
  }

  abstract Optional<Path> find();

  abstract void start(Path program);

  abstract String startedUrl();

  abstract void kill();

  abstract void restart();

  /**
   * The URL of somebody who may use one database. Where there is no such server, the test is
   * skipped, or on CI fails.
   */
  String url() {
    Optional<Path> program = find();
    if (program.isEmpty() && Boolean.getBoolean("mortise.ci")) {
      Assertions.fail(
          "There is no server " + getClass().getSimpleName() + "; on CI that is a failure.");
    }
    Assumptions.assumeTrue(
        program.isPresent(), "no server " + getClass().getSimpleName() + " on this machine");
    start(program.orElseThrow());
    return startedUrl();
  }

  /** Runs statements as somebody who may do everything. */
  void admin(String... statements) {
    try (Connection connection = adminConnection();
        Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  Connection adminConnection() throws SQLException {
    return DriverManager.getConnection(url().replace("user=mortise", "user=admin"));
  }
}
