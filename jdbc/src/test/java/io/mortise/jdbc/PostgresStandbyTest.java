package io.mortise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.FencingToken;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StaleTokenException;
import io.mortise.jdbc.sql.SqlFence;
import io.mortise.jdbc.sql.SqlHelpers;
import io.mortise.testkit.server.PostgresServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.ds.PGSimpleDataSource;

/** What a standby that lags behind loses when it is promoted, and what is left to notice it. */
class PostgresStandbyTest {
  private static final Duration TTL = Duration.ofSeconds(3);
  private static final String LOCK = "invoice/42";

  private PostgresServer primary;
  private PostgresServer standby;

  @BeforeEach
  void start() throws SQLException {
    primary = PostgresServers.V18.start();
    // The tables are there when the copy is made.
    try (LockClient client = LockClient.connect(primary.url());
        Lease lease = client.lock(LOCK).tryAcquire().orElseThrow();
        SqlHelpers helpers = SqlHelpers.open(source(primary.port()))) {
      enter(helpers.fence(), primary.port(), lease.fencingToken());
    }
    standby = primary.startStandby(PostgresServers.V18.binaries());
  }

  @AfterEach
  void end() {
    if (standby != null) {
      standby.close();
    }
    if (primary != null) {
      primary.close();
    }
  }

  @Test
  @Timeout(150)
  void givenStandbyThatLags_whenPromoted_thenTheLockIsForgotten_butTheOldTokenIsRefused()
      throws Exception {
    String url =
        "jdbc:postgresql://127.0.0.1:"
            + primary.port()
            + ",127.0.0.1:"
            + standby.port()
            + "/postgres?user="
            + PostgresServer.USER
            + "&password="
            + PostgresServer.PASSWORD;
    try (LockClient first = LockClient.builder().url(url).ttl(TTL).build();
        LockClient second = LockClient.builder().url(url).ttl(TTL).build()) {
      Lease old = first.lock(LOCK).acquire();
      FencingToken stale = old.fencingToken();
      CountDownLatch lost = new CountDownLatch(1);
      old.onLost(loss -> lost.countDown());

      primary.kill();
      promote();

      FencingToken current =
          Awaitility.await()
              .atMost(Duration.ofSeconds(60))
              .ignoreExceptions()
              .until(
                  () -> second.lock(LOCK).tryAcquire(TTL).orElseThrow().fencingToken(),
                  token -> true);
      assertThat(current.value()).isGreaterThan(stale.value());
      assertThat(lost.await(20, TimeUnit.SECONDS)).isTrue();

      try (SqlHelpers helpers = SqlHelpers.open(source(standby.port()))) {
        // What was shown to the old primary is lost too: the successor's entry makes it safe again.
        enter(helpers.fence(), standby.port(), current);
        assertThatThrownBy(() -> enter(helpers.fence(), standby.port(), stale))
            .isInstanceOf(StaleTokenException.class);
      }
    }
  }

  private void promote() throws SQLException {
    try (Connection connection = source(standby.port()).getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("SELECT pg_promote()");
    }
  }

  private static void enter(SqlFence fence, int port, FencingToken token) throws SQLException {
    try (Connection connection = source(port).getConnection()) {
      connection.setAutoCommit(false);
      fence.enter(connection, token);
      connection.commit();
    }
  }

  private static PGSimpleDataSource source(int port) {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setPortNumbers(new int[] {port});
    source.setServerNames(new String[] {"127.0.0.1"});
    source.setDatabaseName("postgres");
    source.setUser(PostgresServer.USER);
    source.setPassword(PostgresServer.PASSWORD);
    return source;
  }
}
