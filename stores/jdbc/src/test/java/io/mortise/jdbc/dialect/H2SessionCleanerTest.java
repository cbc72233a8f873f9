package io.mortise.jdbc.dialect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.jdbc.table.StoreConnection;
import io.mortise.jdbc.table.TestTables;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testserver.H2Server;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Work that an H2 server continues after its client has given the connection up. */
@Timeout(200)
@Tag("extended")
class H2SessionCleanerTest {
  private static final Duration BOUND = Duration.ofSeconds(20);
  private static final String WANTED = "SELECT * FROM rows_lock WHERE name = 'lock' FOR UPDATE";

  private final H2Dialect dialect = new H2Dialect();
  private H2Server server;
  private FaultInjectionProxy faultInjectionProxy;
  private TestTables tables;

  @BeforeEach
  void start() throws SQLException {
    server = H2Server.start();
    faultInjectionProxy = FaultInjectionProxy.to(server.port());
    tables = new TestTables(DriverManager.getConnection(server.url()), "h2");
    tables.put("lock", TestTables.lock(TestTables.NAMESPACE, "lock"));
    tables.execute("SET LOCK_TIMEOUT 500");
    tables.connection.setAutoCommit(false);
  }

  @AfterEach
  void stop() throws Exception {
    tables.close();
    faultInjectionProxy.close();
    server.close();
  }

  private Connection connect(String user, String password) throws SQLException {
    // Without WRITE_DELAY, which only an administrator may set.
    String url =
        "jdbc:h2:tcp://127.0.0.1:" + faultInjectionProxy.port() + "/./locks;NETWORK_TIMEOUT=3000";
    Connection connection = DriverManager.getConnection(url, user, password);
    dialect.setUp(connection, "the test's store", BOUND);
    return connection;
  }

  /** As the administrator. */
  private Connection connect() throws SQLException {
    return connect("", "");
  }

  private StoreConnection storeConnection(Connection connection) throws SQLException {
    return dialect.storeConnection(connection, tables.text, TestTables.NAMESPACE, session -> false);
  }

  /** Gives a connection up that has a row locked, because no answer comes. */
  private void giveUp() throws SQLException {
    Connection connection = connect();
    StoreConnection storeConnection = storeConnection(connection);
    storeConnection.begin(null);
    try (Statement statement = connection.createStatement()) {
      statement.executeQuery(WANTED).close();
      faultInjectionProxy.weather(FaultInjectionProxy.NetworkCondition.FROZEN);
      assertThatThrownBy(() -> statement.executeQuery(WANTED)).isInstanceOf(SQLException.class);
      assertThat(connection.isClosed()).isTrue();
      storeConnection.close();
    }
    faultInjectionProxy.weather(FaultInjectionProxy.NetworkCondition.FAIR);
  }

  @Test
  void givenConnectionThatIsGivenUpInATransaction_whenTheNextIsMade_thenWhatWasLockedIsFree()
      throws SQLException {
    giveUp();
    assertThatThrownBy(() -> tables.execute(WANTED)).hasMessageContaining("Timeout");
    connect().close();
    tables.execute(WANTED);
  }

  /** Its sessions have the same numbers. */
  @Test
  void givenServerThatHasBegunAnew_whenTheNextConnectionIsMade_thenNobodyElseLosesHis()
      throws SQLException {
    giveUp();
    tables.close();
    server.restart();
    List<Connection> others = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      others.add(DriverManager.getConnection(server.url()));
    }
    connect().close();
    for (Connection other : others) {
      assertThat(other.isValid(5)).isTrue();
      other.close();
    }
  }

  @Test
  void givenUserWhoMayNotEndSessions_whenTheNextConnectionIsMade_thenItServesAllTheSame()
      throws SQLException {
    tables.connection.setAutoCommit(true);
    tables.execute("CREATE USER plain PASSWORD 'secret'");
    tables.execute("GRANT ALL ON SCHEMA PUBLIC TO plain");
    List<StoreConnection> storeConnections =
        List.of(
            storeConnection(connect("plain", "secret")),
            storeConnection(connect("plain", "secret")));
    for (StoreConnection storeConnection : storeConnections) {
      assertThat(storeConnection.now()).isPositive();
    }
    faultInjectionProxy.weather(FaultInjectionProxy.NetworkCondition.FROZEN);
    assertThatThrownBy(() -> storeConnections.get(0).now()).isInstanceOf(SQLException.class);
    storeConnections.get(0).close();
    faultInjectionProxy.weather(FaultInjectionProxy.NetworkCondition.FAIR);
    StoreConnection next = storeConnection(connect("plain", "secret"));
    assertThat(next.now()).isPositive();
    next.close();
    storeConnections.get(1).close();
  }
}
