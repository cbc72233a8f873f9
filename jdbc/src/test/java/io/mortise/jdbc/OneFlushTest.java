package io.mortise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.LockName;
import io.mortise.Terms;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.News;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.testkit.server.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.Properties;
import org.junit.jupiter.api.Test;

/**
 * That the common contended steps are done in one flush, and others are left to the slow path; what
 * they do is compared with the reference by the differential tests.
 */
class OneFlushTest {
  private static final Duration TTL = Duration.ofSeconds(60);
  private static final Duration BOUND = Duration.ofSeconds(8);

  @Test
  void givenMySql_whenLocksAreContended_thenOneFlushDoesTheCommonSteps() throws Exception {
    commonSteps(new MySqlDialect(), MySqlServers.MYSQL.url() + "&namespace=flush");
  }

  @Test
  void givenMariaDb_whenLocksAreContended_thenOneFlushDoesTheCommonSteps() throws Exception {
    commonSteps(new MariaDbDialect(), MySqlServers.MARIADB.url() + "&namespace=flush");
  }

  @Test
  void givenPostgres_whenLocksAreContended_thenOneFlushDoesTheCommonSteps() throws Exception {
    try (PostgresServer server = PostgresServers.V18.start()) {
      commonSteps(new PostgresDialect(), server.url() + "&namespace=flush");
    }
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
      try (Link link = dialect.link(connection, text, "flush", id -> false)) {
        AttemptId first = a.attempt();
        assertThat(Guessing.reply(link, acquire(first))).as("a name without a row").isNull();
        long firstToken = a.granted("lock", first).token();

        AttemptId second = b.attempt();
        Reply.Queued head = (Reply.Queued) Guessing.reply(link, acquire(second));
        assertThat(head.ahead()).isZero();
        assertThat(head.holder().attempt()).isEqualTo(first);
        assertThat(head.holder().token()).isEqualTo(firstToken);
        assertThat(head.askAgain()).isBetween(Duration.ofMillis(1), TTL.plusSeconds(1));
        assertThat(link.takeTold()).containsExactly(new News.Wanted(LockName.of("lock"), first));

        AttemptId third = c.attempt();
        Reply.Queued behind = (Reply.Queued) Guessing.reply(link, acquire(third));
        assertThat(behind.ahead()).isEqualTo(1);
        assertThat(link.takeTold()).as("told once").isEmpty();
        assertThat(Guessing.reply(link, acquire(third))).as("queued already").isNull();
        assertThat(Guessing.reply(link, abandon(second))).as("not the holder").isNull();

        assertThat(Guessing.reply(link, abandon(first)))
            .isEqualTo(new Reply.Ended(first, Reply.Was.HELD, Reply.How.RELEASED, false));
        News.Granted granted = (News.Granted) link.takeTold().get(0);
        assertThat(granted.attempt()).isEqualTo(second);
        assertThat(granted.token()).isGreaterThan(firstToken);
        assertThat(granted.wanted()).as("one more waits").isTrue();
        assertThat(b.granted("lock", second).token()).isEqualTo(granted.token());

        assertThat(Guessing.reply(link, abandon(second))).isInstanceOf(Reply.Ended.class);
        assertThat(((News.Granted) link.takeTold().get(0)).wanted()).isFalse();
        assertThat(Guessing.reply(link, abandon(third))).isInstanceOf(Reply.Ended.class);
        assertThat(link.takeTold()).as("nobody is left").isEmpty();

        AttemptId last = a.attempt();
        assertThat(Guessing.reply(link, acquire(last)))
            .as("free")
            .isInstanceOf(Reply.Granted.class);
        TestSession.get(a.session.close());
        assertThat(Guessing.reply(link, acquire(b.attempt()))).as("its holder is dead").isNull();
      }
    }
  }

  private static Request.Acquire acquire(AttemptId attempt) {
    return new Request.Acquire(
        LockName.of("lock"), attempt, Mode.EXCLUSIVE, true, Terms.NONE, 3, 0, null);
  }

  private static Request.Abandon abandon(AttemptId attempt) {
    return new Request.Abandon(LockName.of("lock"), attempt);
  }
}
