package io.mortise.jdbc.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.jdbc.JdbcStore;
import io.mortise.jdbc.MySqlServers;
import io.mortise.jdbc.PostgresServers;
import io.mortise.jdbc.TestSession;
import io.mortise.jdbc.dialect.Dialect;
import io.mortise.jdbc.dialect.MariaDbDialect;
import io.mortise.jdbc.dialect.MySqlDialect;
import io.mortise.jdbc.dialect.PostgresDialect;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionNotification;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.Properties;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The common contended steps take one flush, and the slow path does all others. The differential
 * tests compare their results with the reference.
 */
class ContendedRequestTest {
  private static final Duration TTL = Duration.ofSeconds(60);
  private static final Duration BOUND = Duration.ofSeconds(8);

  @Test
  @Tag("extended")
  void givenMySql_whenLocksAreContended_thenOneFlushDoesTheCommonSteps() throws Exception {
    commonSteps(new MySqlDialect(), MySqlServers.MYSQL.url() + "&namespace=flush");
  }

  @Test
  void givenMariaDb_whenLocksAreContended_thenOneFlushDoesTheCommonSteps() throws Exception {
    commonSteps(new MariaDbDialect(), MySqlServers.MARIADB.url() + "&namespace=flush");
  }

  @Test
  void givenPostgres_whenLocksAreContended_thenOneFlushDoesTheCommonSteps() throws Exception {
    commonSteps(new PostgresDialect(), PostgresServers.V18.shared().url() + "&namespace=flush");
  }

  private static void commonSteps(Dialect dialect, String url) throws Exception {
    Properties properties = new Properties();
    properties.setProperty("allowMultiQueries", "true");
    String plain =
        url.replace("&namespace=flush", "").replaceFirst("^jdbc:mysql:", "jdbc:mariadb:");
    if (dialect instanceof MySqlDialect) {
      properties.setProperty("allowPublicKeyRetrieval", "true");
    }
    try (LockStore store = JdbcStore.open(url);
        Connection connection = DriverManager.getConnection(plain, properties)) {
      TestSession a = new TestSession(store, TTL);
      TestSession b = new TestSession(store, TTL);
      TestSession c = new TestSession(store, TTL);
      dialect.setUp(connection, "the test's store", BOUND);
      SqlText text = new SqlText(dialect.folders(), SqlText.DEFAULT_PREFIX);
      try (StoreConnection storeConnection =
          dialect.storeConnection(connection, text, "flush", id -> false)) {
        AttemptId first = a.attempt();
        assertThat(ContendedRequestRunner.reply(storeConnection, acquire(first)))
            .as("a name without a row")
            .isNull();
        long firstToken = a.granted("lock", first).token();

        AttemptId second = b.attempt();
        Reply.Queued head =
            (Reply.Queued) ContendedRequestRunner.reply(storeConnection, acquire(second));
        assertThat(head.ahead()).isZero();
        assertThat(head.holder().attempt()).isEqualTo(first);
        assertThat(head.holder().token()).isEqualTo(firstToken);
        assertThat(head.retryAfter()).isBetween(Duration.ofMillis(1), TTL.plusSeconds(1));
        assertThat(storeConnection.takeNotifications())
            .containsExactly(new SessionNotification.Contended(LockName.of("lock"), first));

        AttemptId third = c.attempt();
        Reply.Queued behind =
            (Reply.Queued) ContendedRequestRunner.reply(storeConnection, acquire(third));
        assertThat(behind.ahead()).isEqualTo(1);
        assertThat(storeConnection.takeNotifications()).as("told once").isEmpty();
        assertThat(ContendedRequestRunner.reply(storeConnection, acquire(third)))
            .as("queued already")
            .isNull();
        assertThat(ContendedRequestRunner.reply(storeConnection, abandon(second)))
            .as("not the holder")
            .isNull();

        assertThat(ContendedRequestRunner.reply(storeConnection, abandon(first)))
            .isEqualTo(
                new Reply.Ended(first, Reply.AttemptState.HELD, Reply.EndReason.RELEASED, false));
        SessionNotification.HoldGranted granted =
            (SessionNotification.HoldGranted) storeConnection.takeNotifications().get(0);
        assertThat(granted.attempt()).isEqualTo(second);
        assertThat(granted.token()).isGreaterThan(firstToken);
        assertThat(granted.wanted()).as("one more waits").isTrue();
        assertThat(b.granted("lock", second).token()).isEqualTo(granted.token());

        assertThat(ContendedRequestRunner.reply(storeConnection, abandon(second)))
            .isInstanceOf(Reply.Ended.class);
        assertThat(
                ((SessionNotification.HoldGranted) storeConnection.takeNotifications().get(0))
                    .wanted())
            .isFalse();
        assertThat(ContendedRequestRunner.reply(storeConnection, abandon(third)))
            .isInstanceOf(Reply.Ended.class);
        assertThat(storeConnection.takeNotifications()).as("nobody is left").isEmpty();

        AttemptId last = a.attempt();
        assertThat(ContendedRequestRunner.reply(storeConnection, acquire(last)))
            .as("free")
            .isInstanceOf(Reply.Granted.class);
        TestSession.get(a.session.close());
        assertThat(ContendedRequestRunner.reply(storeConnection, acquire(b.attempt())))
            .as("its holder is dead")
            .isNull();
      }
    }
  }

  private static Request.Acquire acquire(AttemptId attempt) {
    return new Request.Acquire(
        LockName.of("lock"), attempt, Mode.EXCLUSIVE, true, HoldTerms.NONE, 3, 0, null);
  }

  private static Request.Abandon abandon(AttemptId attempt) {
    return new Request.Abandon(LockName.of("lock"), attempt);
  }
}
