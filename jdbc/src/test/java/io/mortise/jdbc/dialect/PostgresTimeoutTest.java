package io.mortise.jdbc.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.jdbc.PostgresServers;
import io.mortise.jdbc.table.SqlText;
import io.mortise.jdbc.table.StoreConnection;
import io.mortise.spi.SessionId;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a request may take, and a wait for a row that somebody else has locked. */
class PostgresTimeoutTest {
  private static final Duration BOUND = Duration.ofSeconds(8);

  @Test
  void givenConnection_whenItIsSetUp_thenAllIsBounded() throws SQLException {
    try (Connection connection = connect()) {
      new PostgresDialect().setUp(connection, "the test's store", BOUND);
      assertThat(bounds(connection)).containsExactly("10ms", "2s", "2s");
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
      assertThat(bounds(connection)).containsExactly("10ms", "2s", "2s");
      storeConnection.rollback();
      assertThat(bounds(connection)).containsExactly("0", "0", "0");
      SessionId session = new SessionId("sessionAaaaa");
      assertThat(
              storeConnection.sessions.keep(session, 1, 2, List.of(), Duration.ofMinutes(1), false))
          .as("a renewal needs a transaction that is set up")
          .isNull();
    }
  }

  private static Connection connect() throws SQLException {
    return DriverManager.getConnection(PostgresServers.V18.shared().url());
  }

  private static List<String> bounds(Connection connection) throws SQLException {
    return List.of(
        setting(connection, "lock_timeout"),
        setting(connection, "statement_timeout"),
        setting(connection, "idle_in_transaction_session_timeout"));
  }

  private static String setting(Connection connection, String name) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SHOW " + name)) {
      row.next();
      return row.getString(1);
    }
  }
}
