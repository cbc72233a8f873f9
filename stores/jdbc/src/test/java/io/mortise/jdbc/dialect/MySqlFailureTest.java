package io.mortise.jdbc.dialect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mysql.cj.jdbc.MysqlDataSource;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.jdbc.JdbcStore;
import io.mortise.jdbc.MySqlServers;
import io.mortise.jdbc.TestSession;
import io.mortise.jdbc.table.SqlText;
import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.SessionVerdict;
import io.mortise.testserver.RedisServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.mariadb.jdbc.MariaDbDataSource;

/** Failures of a server, and their messages to the user. */
@Tag("extended")
class MySqlFailureTest {
  private static final Duration TTL = Duration.ofMinutes(2);
  private static final AtomicInteger NAMES = new AtomicInteger();

  static Stream<MySqlServers> servers() {
    return Stream.of(MySqlServers.MYSQL, MySqlServers.MARIADB);
  }

  /** Tables of its own for each test. */
  private final String prefix = "trouble" + NAMES.incrementAndGet() + "_";

  private String url(MySqlServers server) {
    return server.url() + "&prefix=" + prefix;
  }

  private LockStore open(MySqlServers server) {
    return JdbcStore.open(url(server));
  }

  @ParameterizedTest
  @MethodSource("servers")
  void givenHolderAndWaiter_whenServerIsKilledAndComesBack_thenBothGoOn(MySqlServers server)
      throws Exception {
    try (LockStore one = open(server);
        LockStore two = open(server)) {
      TestSession holder = new TestSession(one, TTL);
      TestSession waiter = new TestSession(two, TTL);
      AttemptId held = holder.attempt();
      AttemptId waits = waiter.attempt();
      holder.granted("a", held);
      assertThat(waiter.acquire("a", waits)).isInstanceOf(Reply.Queued.class);

      server.kill();
      assertThat(holder.renew()).isInstanceOf(Renewal.Unknown.class);
      server.restart();

      Awaitility.await()
          .atMost(Duration.ofSeconds(40))
          .until(() -> holder.renew() instanceof Renewal.Renewed);
      Awaitility.await()
          .atMost(Duration.ofSeconds(40))
          .until(() -> waiter.acquire("a", waits) instanceof Reply.Queued);
      Awaitility.await()
          .atMost(Duration.ofSeconds(40))
          .until(
              () ->
                  holder.submit(new Request.Abandon(LockName.of("a"), held))
                      instanceof Reply.Ended);
      SessionNotification sessionNotification = waiter.hints.poll(20, TimeUnit.SECONDS);
      while (sessionNotification != null
          && !(sessionNotification instanceof SessionNotification.HoldGranted)) {
        sessionNotification = waiter.hints.poll(20, TimeUnit.SECONDS);
      }
      assertThat(sessionNotification)
          .isNotNull()
          .extracting(SessionNotification::attempt)
          .isEqualTo(waits);
    }
  }

  @ParameterizedTest
  @MethodSource("servers")
  void givenHeldLock_whenConnectionsAreKilled_thenItStaysHeldAndIsReleased(MySqlServers server)
      throws Exception {
    try (LockClient locks = LockClient.connect(url(server))) {
      try (Lease lease = locks.lock("a").acquireWithin(Duration.ofSeconds(20))) {
        killConnections(server);
        lease.ensureValid();
      }
      killConnections(server);
      try (Lease lease = locks.lock("a").acquireWithin(Duration.ofSeconds(20))) {
        lease.ensureValid();
      }
    }
  }

  private static void killConnections(MySqlServers server) throws SQLException {
    try (Connection connection = server.adminConnection();
        Statement statement = connection.createStatement()) {
      List<Long> ids = new ArrayList<>();
      try (ResultSet row =
          statement.executeQuery(
              "SELECT id FROM information_schema.processlist WHERE user = 'mortise'")) {
        while (row.next()) {
          ids.add(row.getLong(1));
        }
      }
      for (long id : ids) {
        try {
          statement.execute("KILL " + id);
        } catch (SQLException e) {
          // One of an earlier test, that was just being closed.
          assertThat(e.getMessage()).contains("Unknown thread id");
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("servers")
  void givenTablesThatVanish_whenAsked_thenNothingRanUntilTheyAreBack(MySqlServers server) {
    try (LockStore store = open(server)) {
      TestSession session = new TestSession(store, TTL);
      session.granted("a", session.attempt());
      server.admin(
          "RENAME TABLE mortise.PREFIXlock TO mortise.PREFIXgone".replace("PREFIX", prefix));
      Reply.Failed failed = (Reply.Failed) session.acquire("b", session.attempt());
      assertThat(failed.mayHaveRun()).isFalse();
      assertThat(failed.cause())
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining(prefix + "lock");
      server.admin(
          "RENAME TABLE mortise.PREFIXgone TO mortise.PREFIXlock".replace("PREFIX", prefix));
      session.granted("b", session.attempt());
    }
  }

  @ParameterizedTest
  @MethodSource("servers")
  void givenNoTables_whenCreateIsForbidden_thenTheMessageSaysWhatToDo(MySqlServers server) {
    assertThatThrownBy(() -> JdbcStore.open(url(server) + "&create=false"))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining(prefix + "lock")
        .hasMessageContaining("schema.sql");
  }

  @ParameterizedTest
  @MethodSource("servers")
  void givenServerThatBecomesReadOnly_whenAsked_thenItIsRefusedUntilItIsNot(MySqlServers server)
      throws Exception {
    try (LockStore store = open(server)) {
      TestSession session = new TestSession(store, TTL);
      server.admin("SET GLOBAL read_only = ON");
      try {
        Reply.Failed failed = (Reply.Failed) session.acquire("a", session.attempt());
        assertThat(failed.mayHaveRun()).isFalse();
        assertThat(failed.cause()).hasMessageContaining("read");
        assertThat(session.renew()).isInstanceOf(Renewal.Unknown.class);
        assertThatThrownBy(() -> open(server))
            .isInstanceOf(StoreUnfitException.class)
            .hasMessageContaining("read_only=ON");
      } finally {
        server.admin("SET GLOBAL read_only = OFF");
      }
      session.granted("a", session.attempt());
      assertThat(session.renew()).isInstanceOf(Renewal.Renewed.class);
    }
  }

  @ParameterizedTest
  @MethodSource("servers")
  void givenUserWithTooFewRights_whenOpened_thenTheMessageNamesThem(MySqlServers server) {
    open(server).close();
    server.admin(
        "DROP USER IF EXISTS 'reader'@'%'",
        "CREATE USER 'reader'@'%' IDENTIFIED BY 'secret'",
        "GRANT SELECT ON mortise.* TO 'reader'@'%'");
    String reader = url(server).replace("user=mortise", "user=reader");
    try (LockStore store = JdbcStore.open(reader)) {
      // It can look, and no more.
      SessionSpec spec =
          new SessionSpec(SessionId.random(new Random()), TTL, new ClientLabel("host", 1, "test"));
      Renewal renewal =
          TestSession.get(store.open(spec, sessionNotification -> {}).renew(0, 10, List.of()));
      assertThat(((Renewal.Unknown) renewal).cause())
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("denied");
    }
    assertThatThrownBy(() -> JdbcStore.open(reader.replace(prefix, prefix + "x_")))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("Grant the right")
        .hasMessageContaining("schema.sql");
  }

  @ParameterizedTest
  @MethodSource("servers")
  void givenWrongPasswordDatabaseOrPort_whenOpened_thenEachIsNamedAndNoSecretShown(
      MySqlServers server) {
    String url = server.url();
    assertThatThrownBy(() -> JdbcStore.open(url.replace("password=secret", "password=hush")))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("does not let this user in")
        .hasMessageNotContaining("hush");
    String admin = url.replace("user=mortise", "user=admin");
    assertThatThrownBy(() -> JdbcStore.open(admin.replace("/mortise?", "/nowhere?")))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("does not exist");
    String port = url.replaceFirst(":\\d+/", ":" + RedisServer.freePort() + "/");
    assertThatThrownBy(() -> JdbcStore.open(port)).isInstanceOf(StoreUnavailableException.class);
    assertThatThrownBy(() -> JdbcStore.open(url.replace("/mortise?", "?")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("names no database");
    assertThatThrownBy(() -> JdbcStore.open(url + "&max-in-flight=1s"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("4s");
  }

  @Test
  void givenUrlOfTheOtherProduct_whenOpened_thenTheMessageNamesTheRightOne() {
    assertThatThrownBy(
            () -> JdbcStore.open(MySqlServers.MARIADB.url().replace("jdbc:mariadb", "jdbc:mysql")))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("jdbc:mariadb:");
    assertThatThrownBy(
            () ->
                JdbcStore.open(
                    MySqlServers.MYSQL.url().replace("jdbc:mysql", "jdbc:mariadb")
                        + "&allowPublicKeyRetrieval=true"))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("jdbc:mysql:");
  }

  @ParameterizedTest
  @MethodSource("servers")
  void givenTablesOfAnotherKind_whenOpened_thenTheyAreRefused(MySqlServers server) {
    open(server).close();
    String table = "ALTER TABLE mortise." + prefix + "lock ";
    server.admin(table + "CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci");
    assertThatThrownBy(() -> open(server))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("upper from lower case");
    server.admin("DROP TABLE mortise." + prefix + "lock");
    server.admin(
        "CREATE TABLE mortise." + prefix + "lock (name VARCHAR(100) PRIMARY KEY) ENGINE = MyISAM");
    assertThatThrownBy(() -> open(server))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("without transactions");
  }

  @Test
  void givenBinaryLogOfStatements_whenOpened_thenItIsRefused() {
    MySqlServers server = MySqlServers.MYSQL;
    server.admin("SET GLOBAL binlog_format = 'STATEMENT'");
    try {
      assertThatThrownBy(() -> open(server))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("binlog_format");
    } finally {
      server.admin("SET GLOBAL binlog_format = 'ROW'");
    }
  }

  @ParameterizedTest
  @MethodSource("servers")
  void givenServerThatChangesItsTimeZone_whenJudged_thenSessionsLiveAsLong(MySqlServers server) {
    try (LockStore one = open(server)) {
      TestSession session = new TestSession(one, TTL);
      server.admin("SET GLOBAL time_zone = '+05:00'");
      try (LockStore two = open(server)) {
        SessionVerdict sessionVerdict = TestSession.get(two.judge(session.id()));
        assertThat(sessionVerdict).isInstanceOf(SessionVerdict.Alive.class);
        assertThat(((SessionVerdict.Alive) sessionVerdict).left())
            .isBetween(TTL.minusMinutes(1), TTL);
      } finally {
        server.admin("SET GLOBAL time_zone = 'SYSTEM'");
      }
    }
  }

  /** Matched or changed rows, and the other product's driver: it is all the same to us. */
  @ParameterizedTest
  @MethodSource("servers")
  void givenDataSourceThatCountsChangedRows_whenUsed_thenAllStepsWork(MySqlServers server)
      throws Exception {
    List<DataSource> sources = new ArrayList<>();
    sources.add(
        new MariaDbDataSource(
            server.url().replace("jdbc:mysql:", "jdbc:mariadb:")
                + "&useAffectedRows=true&allowPublicKeyRetrieval=true"));
    if (server == MySqlServers.MYSQL) {
      MysqlDataSource own = new MysqlDataSource();
      own.setUrl(server.url() + "&useAffectedRows=true");
      sources.add(own);
    }
    for (DataSource source : sources) {
      try (LockStore store = JdbcStore.over(source, "prefix=" + prefix)) {
        TestSession session = new TestSession(store, TTL);
        TestSession other = new TestSession(store, TTL);
        for (int i = 0; i < 3; i++) {
          AttemptId held = session.attempt();
          AttemptId waits = other.attempt();
          session.granted("a", held);
          session.granted("a", held);
          assertThat(session.abandon("a", held).was()).isEqualTo(Reply.AttemptState.HELD);
          assertThat(session.abandon("a", held).was()).isEqualTo(Reply.AttemptState.HELD);
          AttemptId again = session.attempt();
          session.granted("a", again);
          assertThat(other.acquire("a", waits)).isInstanceOf(Reply.Queued.class);
          assertThat(session.abandon("a", again).was()).isEqualTo(Reply.AttemptState.HELD);
          other.granted("a", waits);
          assertThat(other.abandon("a", waits).was()).isEqualTo(Reply.AttemptState.HELD);
          assertThat(session.renew()).isInstanceOf(Renewal.Renewed.class);
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("servers")
  void givenRowLockedByAForeignTransaction_whenAsked_thenTheAnswerSaysThatNothingRan(
      MySqlServers server) throws Exception {
    try (LockStore store = JdbcStore.open(url(server) + "&max-in-flight=4s");
        Connection connection = server.adminConnection();
        Statement statement = connection.createStatement()) {
      TestSession session = new TestSession(store, TTL);
      AttemptId held = session.attempt();
      session.granted("a", held);
      connection.setAutoCommit(false);
      statement
          .executeQuery("SELECT * FROM " + prefix + "lock WHERE name = 'a' FOR UPDATE")
          .close();
      Reply.Failed failed =
          (Reply.Failed) session.acquire("a", session.attempt(), Mode.EXCLUSIVE, false);
      assertThat(failed.mayHaveRun()).isFalse();
      assertThat(failed.cause()).hasMessageContaining("was busy");
      connection.rollback();
      assertThat(session.abandon("a", held).was()).isEqualTo(Reply.AttemptState.HELD);
    }
  }

  @ParameterizedTest
  @MethodSource("servers")
  void givenRowThatSomebodyKeepsLocked_whenOthersAreAskedForAgainAndAgain_thenTheyWaitForItOnce(
      MySqlServers server) throws Exception {
    try (LockClient client = LockClient.connect(url(server));
        Connection connection = server.adminConnection();
        Statement statement = connection.createStatement()) {
      for (int i = 0; i < 10; i++) {
        client.lock("n" + i).acquire().close();
      }
      // Else the rows that it only looks at stay locked too.
      connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
      connection.setAutoCommit(false);
      statement
          .executeQuery("SELECT * FROM " + prefix + "lock WHERE name = 'n7' FOR UPDATE")
          .close();
      long before = count(statement, "Innodb_row_lock_waits");
      CompletableFuture<Lease> stuck = client.lock("n7").acquireAsync();
      Awaitility.await().until(() -> count(statement, "Innodb_row_lock_waits") > before);

      long began = System.nanoTime();
      for (int round = 0; round < 50; round++) {
        List<CompletableFuture<Lease>> others = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
          if (i != 7) {
            others.add(client.lock("n" + i).acquireAsync());
          }
        }
        others.forEach(other -> other.join().close());
      }

      // One when it was first met, and one for each time that its request was given up meanwhile,
      // which is after two seconds and a half. Else it would be nearly one in each second.
      long seconds = Duration.ofNanos(System.nanoTime() - began).toSeconds();
      assertThat(count(statement, "Innodb_row_lock_waits") - before)
          .isLessThanOrEqualTo(4 + seconds / 2);
      assertThat(stuck).isNotDone();
      connection.rollback();
      stuck.orTimeout(60, TimeUnit.SECONDS).join().close();
    }
  }

  /** A thread that waits asks the server itself, and must not break the connection. */
  @ParameterizedTest
  @MethodSource("servers")
  void givenThreadThatIsInterruptedWhileItAsks_whenTheRowIsFree_thenTheSameConnectionGoesOn(
      MySqlServers server) throws Exception {
    try (LockClient locks = LockClient.connect(url(server) + "&max-in-flight=20s");
        Connection connection = server.adminConnection();
        Statement statement = connection.createStatement()) {
      for (int i = 0; i < 20; i++) {
        locks.lock("a").acquire().close();
      }
      long before = count(statement, "Connections");
      connection.setAutoCommit(false);
      statement
          .executeQuery("SELECT * FROM " + prefix + "lock WHERE name = 'a' FOR UPDATE")
          .close();
      AtomicReference<Throwable> outcome = new AtomicReference<>();
      Thread asks =
          new Thread(
              () -> {
                try {
                  locks.lock("a").acquire().close();
                } catch (InterruptedException | RuntimeException e) {
                  outcome.set(e);
                }
              });
      asks.start();
      TimeUnit.MILLISECONDS.sleep(200);
      asks.interrupt();
      asks.join(20_000);
      assertThat(outcome.get()).isInstanceOf(InterruptedException.class);
      connection.rollback();
      locks.lock("a").acquireWithin(Duration.ofSeconds(20)).close();
      assertThat(count(statement, "Connections")).isEqualTo(before);
    }
  }

  @ParameterizedTest
  @MethodSource("servers")
  void givenNewsOfASessionThatIsGone_whenSwept_thenItIsGoneToo(MySqlServers server)
      throws Exception {
    try (LockStore store = open(server);
        Connection connection = server.adminConnection();
        Statement statement = connection.createStatement()) {
      TestSession session = new TestSession(store, TTL);
      TestSession other = new TestSession(store, TTL);
      session.granted("a", session.attempt());
      assertThat(other.acquire("a", other.attempt())).isInstanceOf(Reply.Queued.class);
      String newsTable = "mortise." + prefix + "news";
      statement.execute(
          "INSERT INTO NEWS SELECT id + 1000, 'goneforever1', kind, name, attempt, token, tokens, flag, timed, how FROM NEWS"
              .replace("NEWS", newsTable));
      assertThat(TestSession.get(store.sweep(100))).isPositive();
      try (ResultSet row =
          statement.executeQuery(
              "SELECT SUM(session = 'goneforever1'), SUM(session <> 'goneforever1') FROM "
                  + newsTable)) {
        row.next();
        assertThat(row.getInt(1)).isZero();
        assertThat(row.getInt(2)).isPositive();
      }
    }
  }

  @ParameterizedTest
  @MethodSource("servers")
  void givenLockThatNobodyElseWants_whenTakenAndReleased_thenEachIsOneStatement(MySqlServers server)
      throws Exception {
    try (LockStore store = open(server);
        Connection connection = server.adminConnection();
        Statement statement = connection.createStatement()) {
      TestSession session = new TestSession(store, TTL);
      AttemptId first = session.attempt();
      session.granted("a", first);
      session.abandon("a", first);
      long updates = count(statement, "Com_update");
      long begins = count(statement, "Com_begin");
      for (int i = 0; i < 10; i++) {
        AttemptId attempt = session.attempt();
        session.granted("a", attempt);
        session.abandon("a", attempt);
      }
      assertThat(count(statement, "Com_update") - updates).isEqualTo(20);
      assertThat(count(statement, "Com_begin") - begins).isZero();
    }
  }

  private static long count(Statement statement, String status) throws SQLException {
    try (ResultSet row = statement.executeQuery("SHOW GLOBAL STATUS LIKE '" + status + "'")) {
      row.next();
      return row.getLong(2);
    }
  }

  @ParameterizedTest
  @MethodSource("servers")
  void givenConnectionThatGoesBackIntoAPool_whenStoreIsClosed_thenItsSettingsHoldAgain(
      MySqlServers server) throws Exception {
    String settings =
        "SELECT CONCAT_WS(' ', @@time_zone, @@sql_mode, @@wait_timeout, @@lock_wait_timeout)";
    try (Connection pooled = java.sql.DriverManager.getConnection(server.url())) {
      MySqlFamilyDialect dialect =
          server == MySqlServers.MYSQL ? new MySqlDialect() : new MariaDbDialect();
      SqlText text = new SqlText(dialect.folders(), SqlText.DEFAULT_PREFIX);
      for (String set : List.of("@@sql_mode", "''")) {
        try (Statement statement = pooled.createStatement()) {
          statement.execute("SET SESSION sql_mode = " + set);
        }
        String before = one(pooled, settings);
        dialect.setUp(pooled, "pool", Duration.ofSeconds(5));
        assertThat(one(pooled, settings)).isNotEqualTo(before).startsWith("+00:00");
        dialect.storeConnection(pooled, text, "default", session -> false).detach();
        assertThat(one(pooled, settings)).isEqualTo(before);
      }
    }
  }

  private static String one(Connection connection, String query) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(query)) {
      row.next();
      return row.getString(1);
    }
  }
}
