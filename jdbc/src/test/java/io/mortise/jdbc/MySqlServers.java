package io.mortise.jdbc;

import io.mortise.testkit.Machine;
import io.mortise.testkit.server.LocalServer;
import io.mortise.testkit.server.MariaDbServer;
import io.mortise.testkit.server.MySqlServer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

/** One server of each product serves all tests of the JVM. */
final class MySqlServers {
  static final MySqlServers MYSQL =
      new MySqlServers("MySql", MySqlServer::bundled, program -> MySqlServer.start(program));
  static final MySqlServers MARIADB =
      new MySqlServers(
          "MariaDb", MariaDbServer::installed, program -> MariaDbServer.start(program));

  private final String name;
  private final Supplier<Optional<Path>> find;
  private final Function<Path, LocalServer> start;
  private LocalServer server;

  private MySqlServers(
      String name, Supplier<Optional<Path>> find, Function<Path, LocalServer> start) {
    this.name = name;
    this.find = find;
    this.start = start;
  }

  void kill() {
    server.kill();
  }

  void restart() {
    server.restart();
  }

  /** Where there is no such server, the test is skipped, or on CI fails. */
  Path program() {
    return Machine.required(find.get(), "a server " + name);
  }

  /** The URL of somebody who may use one database. */
  String url() {
    if (server == null) {
      server = start.apply(program());
    }
    return server.url();
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
