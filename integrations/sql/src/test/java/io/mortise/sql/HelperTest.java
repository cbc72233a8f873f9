package io.mortise.sql;

import io.mortise.FencingToken;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;

/** An empty database per test, with an account of balance 100, and threads that end with it. */
abstract class HelperTest {
  /** If it is set, on which database only. */
  private static final String ONLY = "mortise.database";

  final TestDatabase.Kind kind;
  TestDatabase database;
  private final List<Connection> connections = new ArrayList<>();
  private final ExecutorService threads = Executors.newCachedThreadPool();

  HelperTest(TestDatabase.Kind kind) {
    this.kind = kind;
  }

  @BeforeParameterizedClassInvocation
  static void skipOthers(TestDatabase.Kind kind) {
    Assumptions.assumeTrue(System.getProperty(ONLY, kind.name()).equalsIgnoreCase(kind.name()));
  }

  @BeforeEach
  void openDatabase() throws SQLException {
    database = TestDatabase.open(kind);
    try (Connection connection = database.connect()) {
      execute(
          connection,
          "CREATE TABLE account (id BIGINT NOT NULL PRIMARY KEY, balance BIGINT NOT NULL,"
              + " fence_token BIGINT DEFAULT 0 NOT NULL,"
              + " fence_holder VARCHAR(64) DEFAULT '' NOT NULL)");
      execute(connection, "INSERT INTO account (id, balance) VALUES (42, 100)");
    }
  }

  @AfterEach
  void closeDatabase() throws Exception {
    threads.shutdownNow();
    synchronized (connections) {
      for (Connection connection : connections) {
        connection.close();
      }
    }
    if (!threads.awaitTermination(20, TimeUnit.SECONDS)) {
      throw new AssertionError("Threads of the test go on.");
    }
    database.close();
  }

  /** A connection with a transaction, rolled back and closed after the test. */
  Connection begin() throws SQLException {
    Connection connection = database.connect();
    connection.setAutoCommit(false);
    synchronized (connections) {
      connections.add(connection);
    }
    return connection;
  }

  static FencingToken token(long value) {
    return new FencingToken("account/42", value, "holder-" + value);
  }

  <T> Future<T> start(Callable<T> task) {
    return threads.submit(task);
  }

  static <T> T get(Future<T> future) throws Exception {
    try {
      return future.get(30, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception cause ? cause : e;
    }
  }

  /** Whether it is still under way after a moment in which it would have ended. */
  static boolean waits(Future<?> future) throws Exception {
    return waits(future, Duration.ofMillis(300));
  }

  static boolean waits(Future<?> future, Duration moment) throws Exception {
    try {
      future.get(moment.toMillis(), TimeUnit.MILLISECONDS);
      return false;
    } catch (TimeoutException e) {
      return true;
    }
  }

  static int execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      return statement.executeUpdate(sql);
    }
  }

  static long number(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getLong(1);
    }
  }

  static long balance(Connection connection) throws SQLException {
    return number(connection, "SELECT balance FROM account WHERE id = 42");
  }

  /** As everybody sees it. */
  long committedBalance() throws SQLException {
    try (Connection connection = database.connect()) {
      return balance(connection);
    }
  }

  static void pay(Connection connection, long balance) throws SQLException {
    execute(connection, "UPDATE account SET balance = " + balance + " WHERE id = 42");
  }
}
