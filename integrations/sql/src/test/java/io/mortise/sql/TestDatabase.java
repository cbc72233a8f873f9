package io.mortise.sql;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Logger;
import java.util.stream.Stream;
import javax.sql.DataSource;

/** An empty database for one test. */
final class TestDatabase implements AutoCloseable {
  private final String url;
  private final Runnable cleanUp;
  private final List<Connection> handedOut = new CopyOnWriteArrayList<>();

  private TestDatabase(String url, Runnable cleanUp) {
    this.url = url;
    this.cleanUp = cleanUp;
  }

  /** The database product. */
  enum Kind {
    H2,
    SQLITE,
    POSTGRESQL,
    MYSQL,
    MARIADB
  }

  static TestDatabase open(Kind kind) {
    String name = TestServers.newName();
    return switch (kind) {
      case H2 ->
          new TestDatabase(
              "jdbc:h2:mem:" + name + ";DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=20000",
              () -> {
                // Its connections are closed; the next lines end the database itself.
                execute("jdbc:h2:mem:" + name, "SHUTDOWN");
              });
      case SQLITE -> {
        Path folder = temporary();
        yield new TestDatabase(
            "jdbc:sqlite:" + folder.resolve(name + ".db") + "?busy_timeout=20000",
            () -> delete(folder));
      }
      case POSTGRESQL -> {
        String server = TestServers.valueOf(kind.name()).url();
        execute(server, "CREATE SCHEMA " + name);
        yield new TestDatabase(
            server + "&currentSchema=" + name,
            () -> execute(server, "DROP SCHEMA " + name + " CASCADE"));
      }
      case MYSQL, MARIADB -> {
        String server = TestServers.valueOf(kind.name()).url();
        execute(server, "CREATE DATABASE " + name);
        yield new TestDatabase(
            server.replace("/mortise?", "/" + name + "?"),
            () -> execute(server, "DROP DATABASE " + name));
      }
    };
  }

  private static void execute(String url, String sql) {
    try (Connection connection = DriverManager.getConnection(url);
        var statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  private static Path temporary() {
    try {
      return Files.createTempDirectory("mortise-helpers");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void delete(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Its URL, with user and password. */
  String url() {
    return url;
  }

  Connection connect() throws SQLException {
    return DriverManager.getConnection(url);
  }

  DataSource dataSource() {
    return new PlainDataSource();
  }

  /** All connections that data sources have handed out, in order. */
  List<Connection> handedOut() {
    return handedOut;
  }

  @Override
  public void close() {
    cleanUp.run();
  }

  /** A new connection each time. */
  private final class PlainDataSource implements DataSource {
    @Override
    public Connection getConnection() throws SQLException {
      Connection connection = connect();
      handedOut.add(connection);
      return connection;
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
      return getConnection();
    }

    @Override
    public PrintWriter getLogWriter() {
      throw new UnsupportedOperationException();
    }

    @Override
    public void setLogWriter(PrintWriter out) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void setLoginTimeout(int seconds) {
      throw new UnsupportedOperationException();
    }

    @Override
    public int getLoginTimeout() {
      return 0;
    }

    @Override
    public Logger getParentLogger() throws SQLFeatureNotSupportedException {
      throw new SQLFeatureNotSupportedException();
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
      throw new SQLException("Wraps nothing.");
    }

    @Override
    public boolean isWrapperFor(Class<?> type) {
      return false;
    }
  }
}
