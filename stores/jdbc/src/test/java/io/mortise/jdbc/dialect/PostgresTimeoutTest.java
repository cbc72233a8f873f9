package io.mortise.jdbc.dialect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.LockClient;
import io.mortise.StoreUnfitException;
import io.mortise.jdbc.DatabaseProduct;
import io.mortise.jdbc.JdbcStore;
import io.mortise.jdbc.PostgresServers;
import io.mortise.jdbc.table.SqlText;
import io.mortise.jdbc.table.StoreConnection;
import io.mortise.spi.LockStore;
import io.mortise.spi.SessionId;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testkit.server.FaultInjectionProxy.NetworkCondition;
import io.mortise.testserver.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/** Time limits of requests, and of waits for a row that another transaction has locked. */
class PostgresTimeoutTest {
  private static final Duration BOUND = Duration.ofSeconds(8);
  private static final Duration LONG = Duration.ofSeconds(30);

  @Test
  void givenConnection_whenItIsSetUp_thenAllIsBounded() throws SQLException {
    try (Connection connection = connect()) {
      new PostgresDialect().setUp(connection, "the test's store", BOUND);
      assertThat(bounds(connection)).containsExactly("10ms", "2s", "2s", "4s");
    }
  }

  @Test
  void givenServerThatIsRefused_thenItsConnectionIsAsItWas() throws SQLException {
    try (Connection connection = connect();
        Statement statement = connection.createStatement()) {
      statement.execute("SET default_transaction_read_only = on");
      assertThatThrownBy(() -> new PostgresDialect().setUp(connection, "the test's store", BOUND))
          .isInstanceOf(StoreUnfitException.class);
      assertThat(bounds(connection)).containsExactly("0", "0", "0", "0");
      assertThat(connection.getAutoCommit()).isTrue();
    }
  }

  @Test
  void givenPooler_whenATransactionBegins_thenAllOfItIsBounded() throws SQLException {
    try (Connection connection = connect()) {
      Dialect pooled = new PostgresDialect().behindPooler(BOUND);
      SqlText text = new SqlText(pooled.folders(), SqlText.DEFAULT_PREFIX);
      StoreConnection storeConnection =
          pooled.storeConnection(connection, text, "settings", id -> false);
      storeConnection.begin(null);
      assertThat(bounds(connection)).containsExactly("10ms", "2s", "2s", "4s");
      storeConnection.rollback();
      assertThat(bounds(connection)).containsExactly("0", "0", "0", "0");
      SessionId session = new SessionId("sessionAaaaa");
      assertThat(
              storeConnection.sessions.keep(session, 1, 2, List.of(), Duration.ofMinutes(1), false))
          .as("a renewal needs a transaction that is set up")
          .isNull();
    }
  }

  /** The pool gives connections without a limit. */
  @Test
  void givenPoolBehindANetworkThatFallsSilent_whenTheStoreIsClosed_thenNothingListensAnyMore()
      throws Exception {
    PostgresServer server = PostgresServers.V18.shared();
    try (FaultInjectionProxy way = FaultInjectionProxy.to(server.port());
        Connection other = connect()) {
      String url = server.url().replace(":" + server.port(), ":" + way.port());
      DataSource pool = DatabaseProduct.POSTGRESQL.source(url + "&ApplicationName=silent");
      try (LockStore store = JdbcStore.over(pool, "max-in-flight=2s&namespace=silent");
          LockClient locks = LockClient.builder().store(store).build()) {
        var unused = locks.lock("silent").acquire();
        BoundedWait.until(LONG, "it listens", () -> listeners(other) == 1);
        way.condition(NetworkCondition.FROZEN);
      }
      BoundedWait.until(LONG, "the thread ended", () -> !listens(":" + way.port() + "/"));
    }
  }

  private static int listeners(Connection connection) {
    String query =
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'silent' AND query LIKE"
            + " 'LISTEN %'";
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(query)) {
      row.next();
      return row.getInt(1);
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  private static boolean listens(String server) {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .anyMatch(name -> name.contains(server) && name.endsWith("-listen"));
  }

  private static Connection connect() throws SQLException {
    return DriverManager.getConnection(PostgresServers.V18.shared().url());
  }

  private static List<String> bounds(Connection connection) throws SQLException {
    return List.of(
        setting(connection, "lock_timeout"),
        setting(connection, "statement_timeout"),
        setting(connection, "idle_in_transaction_session_timeout"),
        setting(connection, "transaction_timeout"));
  }

  private static String setting(Connection connection, String name) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SHOW " + name)) {
      row.next();
      return row.getString(1);
    }
  }
}
