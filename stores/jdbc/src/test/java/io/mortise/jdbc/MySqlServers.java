package io.mortise.jdbc;

import io.mortise.testkit.TestPrerequisites;
import io.mortise.testkit.server.LocalServer;
import io.mortise.testserver.MariaDbServer;
import io.mortise.testserver.MySqlServer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;

/** One server of each product serves all tests of the JVM. Public, for the loaders of mutants. */
public final class MySqlServers {
  public static final MySqlServers MYSQL =
      new MySqlServers("MySql", MySqlServer::bundled, program -> MySqlServer.start(program));
  public static final MySqlServers MARIADB =
      new MySqlServers(
          "MariaDb", MariaDbServer::installed, program -> MariaDbServer.start(program));

  private static final AtomicInteger NAMESPACES = new AtomicInteger();

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

  /** One that nobody in this JVM had before. */
  public static String namespace() {
    return "contract" + NAMESPACES.incrementAndGet();
  }

  /** Ends it, as a power cut would. */
  public void kill() {
    server.kill();
  }

  /** Starts it again where it was. */
  public void restart() {
    server.restart();
  }

  /** Where there is no such server, the test is skipped, or on CI fails. */
  public Path program() {
    return TestPrerequisites.required(find.get(), "a server " + name);
  }

  /** The URL of somebody who may use one database. */
  public synchronized String url() {
    if (server == null) {
      server = start.apply(program());
    }
    return server.url();
  }

  /** Runs statements as somebody who may do everything. */
  public void admin(String... statements) {
    try (Connection connection = adminConnection();
        Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  /** Somebody who may do everything. */
  public Connection adminConnection() throws SQLException {
    return DriverManager.getConnection(url().replace("user=mortise", "user=admin"));
  }
}
