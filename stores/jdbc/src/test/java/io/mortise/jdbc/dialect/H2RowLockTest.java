package io.mortise.jdbc.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.jdbc.JdbcStore;
import io.mortise.jdbc.TestSession;
import io.mortise.jdbc.table.SqlText;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testserver.H2Server;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Time limits of requests on H2, and a row that another transaction keeps locked. */
@Timeout(200)
class H2RowLockTest {
  private static final String SETTINGS =
      "SELECT LOCK_TIMEOUT() || ' ' || SETTING_VALUE FROM INFORMATION_SCHEMA.SETTINGS"
          + " WHERE SETTING_NAME = 'QUERY_TIMEOUT'";

  private H2Server server;

  @BeforeEach
  void start() {
    server = H2Server.start();
  }

  @AfterEach
  void stop() throws Exception {
    server.close();
  }

  private static void keep(Connection slow, String name) throws SQLException {
    slow.setAutoCommit(false);
    slow.createStatement()
        .executeQuery("SELECT * FROM mortise_lock WHERE name = '" + name + "' FOR UPDATE");
  }

  @Test
  @RerunIfPaused
  void givenRowThatSomebodyKeepsLocked_whenOthersAreAskedFor_thenTheyDoNotWaitForIt()
      throws Exception {
    try (LockClient client = LockClient.connect(server.url());
        Connection slow = DriverManager.getConnection(server.url())) {
      for (int i = 0; i < 5; i++) {
        client.lock("n" + i).acquire().close();
      }
      keep(slow, "n2");

      CompletableFuture<Lease> stuck = client.lock("n2").acquireAsync();
      long began = System.nanoTime();
      for (int round = 0; round < 10; round++) {
        List<CompletableFuture<Lease>> others = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
          if (i != 2) {
            others.add(client.lock("n" + i).acquireAsync());
          }
        }
        others.forEach(other -> other.orTimeout(20, TimeUnit.SECONDS).join().close());
      }
      Duration took = Duration.ofNanos(System.nanoTime() - began);

      // Otherwise each of several rounds would wait for 2.5 s, half of a request's time limit.
      assertThat(took).isLessThan(Duration.ofSeconds(5));
      assertThat(stuck).isNotDone();
      slow.rollback();
      stuck.orTimeout(20, TimeUnit.SECONDS).join().close();
    }
  }

  @Test
  void givenRowLockedByAForeignTransaction_whenAsked_thenTheAnswerSaysThatNothingRan()
      throws Exception {
    try (LockStore store = JdbcStore.open(server.url() + "?max-in-flight=2s");
        Connection slow = DriverManager.getConnection(server.url())) {
      TestSession session = new TestSession(store, Duration.ofMinutes(1));
      AttemptId held = session.attempt();
      session.granted("a", held);
      keep(slow, "a");
      Reply.Failed failed =
          (Reply.Failed) session.acquire("a", session.attempt(), Mode.EXCLUSIVE, false);
      assertThat(failed.mayHaveRun()).isFalse();
      assertThat(failed.cause()).hasMessageContaining("was busy");
      slow.rollback();
      assertThat(session.abandon("a", held).was()).isEqualTo(Reply.AttemptState.HELD);
    }
  }

  @Test
  void givenConnectionThatGoesBackIntoAPool_whenStoreIsClosed_thenItsOwnSettingsHoldAgain()
      throws SQLException {
    try (Connection pooled = DriverManager.getConnection(server.url());
        Statement statement = pooled.createStatement()) {
      statement.execute("SET LOCK_TIMEOUT 4321; SET QUERY_TIMEOUT 1234");
      H2Dialect dialect = new H2Dialect();
      dialect.setUp(pooled, "pool", Duration.ofSeconds(5));
      assertThat(settings(statement)).isEqualTo("10 2500");
      SqlText text = new SqlText(dialect.folders(), SqlText.DEFAULT_PREFIX);
      dialect.storeConnection(pooled, text, "default", session -> false).detach();
      assertThat(settings(statement)).isEqualTo("4321 1234");
    }
  }

  private static String settings(Statement statement) throws SQLException {
    try (ResultSet row = statement.executeQuery(SETTINGS)) {
      row.next();
      return row.getString(1);
    }
  }
}
