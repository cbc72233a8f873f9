package io.mortise.jdbc.dialect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.DistributedLock;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockException;
import io.mortise.jdbc.JdbcStore;
import io.mortise.jdbc.PostgresServers;
import io.mortise.jdbc.TestSession;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.SessionNotification;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testserver.PostgresServer;
import io.mortise.verification.log.RecordedLog;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
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
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.postgresql.ds.PGSimpleDataSource;

/** Failures of PostgreSQL, and their effect on locks. */
class PostgresFaultTest {
  private static final Duration TTL = Duration.ofSeconds(3);

  private static PostgresServer server;

  private String url;
  private String prefix;

  @BeforeAll
  static void start() {
    server = PostgresServers.V18.start();
  }

  @AfterAll
  static void stop() {
    if (server != null) {
      server.close();
    }
  }

  @BeforeEach
  void chooseTables(TestInfo test) {
    prefix = "t" + Integer.toUnsignedString(test.getDisplayName().hashCode()) + "_";
    url = server.url() + "&prefix=" + prefix;
  }

  private LockClient client() {
    return LockClient.builder().url(url).ttl(TTL).build();
  }

  /** Its session outlives a restart of the server. */
  private LockClient patient() {
    return LockClient.builder().url(url).ttl(Duration.ofSeconds(60)).build();
  }

  private static Connection connect() throws SQLException {
    return DriverManager.getConnection(server.url());
  }

  private static void sql(String... statements) {
    try (Connection connection = connect();
        Statement statement = connection.createStatement()) {
      for (String each : statements) {
        statement.execute(each);
      }
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  private static String ask(String query) {
    try (Connection connection = connect();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(query)) {
      row.next();
      return row.getString(1);
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  private static void killBackends() {
    sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            + "WHERE application_name = 'mortise' AND backend_type = 'client backend'");
  }

  @Test
  void givenHolderAndWaiter_whenTheServerIsRestarted_thenTheHoldStays_andTheWaiterIsServed()
      throws InterruptedException {
    try (LockClient one = patient();
        LockClient two = patient()) {
      Lease held = one.lock("a").acquire();
      CompletableFuture<Lease> waits = two.lock("a").acquireAsync();

      server.restart();

      assertThat(waits).isNotDone();
      assertThat(held.isValid()).isTrue();
      held.close();
      Lease next = waits.orTimeout(20, TimeUnit.SECONDS).join();
      assertThat(next.token()).isGreaterThan(held.token());
      next.close();
    }
  }

  @Test
  void givenHolder_whenItsConnectionsBreak_thenTheLogSaysSoAtOnce_andWhenItIsBack() {
    try (FaultInjectionProxy line = FaultInjectionProxy.to(server.port())) {
      String port = ":" + line.port();
      url = url.replace(":" + server.port(), port);
      try (LockClient one = patient()) {
        Lease held = one.lock("a").tryAcquire().orElseThrow();
        String listens =
            "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND state = 'idle'";
        await().until(() -> ask(listens).equals("1"));

        line.reset();

        await().until(() -> RecordedLog.sessionLinesWith(port).size() >= 2);
        List<String> logged = RecordedLog.sessionLinesWith(port);
        assertThat(logged.get(0))
            .startsWith("WARN SessionLog: The connection to store jdbc:postgresql:")
            .contains(" broke: ")
            .matches(".*: 1; the first is lost in [0-9]+s unless the store answers\\.");
        assertThat(logged.get(1))
            .startsWith("INFO SessionLog: Store jdbc:postgresql:")
            .contains(" answers renewals again after ")
            .endsWith("leases kept: 1.");
        assertThat(held.isValid()).isTrue();
        held.close();
      }
    }
  }

  private static ConditionFactory await() {
    return Awaitility.await().atMost(BoundedWait.scaled(Duration.ofSeconds(15)));
  }

  @Test
  void givenContendingClients_whenTheirConnectionsAreKilledAgainAndAgain_thenOneHoldsAtATime()
      throws Exception {
    AtomicBoolean over = new AtomicBoolean();
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    AtomicInteger rounds = new AtomicInteger();
    try (LockClient one = LockClient.connect(url);
        LockClient two = LockClient.connect(url)) {
      List<Thread> threads = new ArrayList<>();
      for (LockClient client : List.of(one, two)) {
        for (String name : List.of("shared", "shared", "own" + client.hashCode())) {
          DistributedLock lock = client.lock(name);
          threads.add(
              new Thread(
                  () -> {
                    while (!over.get()) {
                      try (Lease lease = lock.acquireWithin(Duration.ofSeconds(20))) {
                        if (name.equals("shared")) {
                          most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                          Thread.onSpinWait();
                          inside.decrementAndGet();
                        }
                        assertThat(lease.token()).isPositive();
                        rounds.incrementAndGet();
                      } catch (LockException e) {
                        // An outage is told; the next round finds the server again.
                      } catch (InterruptedException e) {
                        return;
                      }
                    }
                  }));
        }
      }
      threads.forEach(Thread::start);
      for (int i = 0; i < 25; i++) {
        int before = rounds.get();
        killBackends();
        Awaitility.await()
            .atMost(Duration.ofSeconds(20))
            .pollInterval(Duration.ofMillis(5))
            .until(() -> rounds.get() > before + 3);
      }
      over.set(true);
      for (Thread thread : threads) {
        thread.join(30_000);
        assertThat(thread.isAlive()).isFalse();
      }
      assertThat(most).hasValue(1);
      try (Lease lease = one.lock("shared").acquireWithin(Duration.ofSeconds(20))) {
        assertThat(lease.isValid()).isTrue();
      }
    }
  }

  @Test
  @RerunIfPaused
  void givenHeldLock_whenTheTablesAreEmptied_thenItIsLost_andLocksWorkWithinTtl_withRisingTokens()
      throws InterruptedException {
    try (LockClient client = client()) {
      Lease held = client.lock("a").acquire();
      long token = held.token();

      sql(
          "TRUNCATE "
              + String.join(
                  ", ",
                  List.of("session", "lock", "hold", "wait", "news").stream()
                      .map(table -> prefix + table)
                      .toList()));

      Awaitility.await().atMost(TTL.plusSeconds(2)).until(() -> !held.isValid());
      assertThatThrownBy(held::close).isInstanceOf(LeaseLostException.class);
      Awaitility.await()
          .atMost(TTL.plusSeconds(2))
          .ignoreExceptionsInstanceOf(LockException.class)
          .untilAsserted(
              () -> {
                try (Lease next = client.lock("a").acquireWithin(Duration.ofSeconds(1))) {
                  assertThat(next.token()).isGreaterThan(token);
                }
              });
    }
  }

  @Test
  void givenHeldLock_whenOthersTryInVain_thenOnlyTheFirstWrites_andReleaseKeepsTheRow() {
    try (LockStore one = JdbcStore.open(url);
        LockStore two = JdbcStore.open(url)) {
      TestSession holder = new TestSession(one, Duration.ofSeconds(60));
      TestSession other = new TestSession(two, Duration.ofSeconds(60));
      AttemptId held = holder.attempt();
      holder.granted("a", held);
      assertThat(other.acquire("a", other.attempt(), Mode.EXCLUSIVE, false))
          .isInstanceOf(Reply.Busy.class);
      String version = "SELECT xmin || ' ' || ctid FROM " + prefix + "lock";
      String notifications = "SELECT count(*) FROM " + prefix + "news";
      String before = ask(version) + ask(notifications);

      for (int i = 0; i < 20; i++) {
        assertThat(other.acquire("a", other.attempt(), Mode.EXCLUSIVE, false))
            .isInstanceOf(Reply.Busy.class);
      }

      assertThat(ask(version) + ask(notifications)).isEqualTo(before);
      holder.abandon("a", held);
      assertThat(ask("SELECT count(*) FROM " + prefix + "lock WHERE used = 0")).isEqualTo("1");
    }
  }

  @Test
  void givenRowThatSomebodyKeepsLocked_whenOthersAreAskedFor_thenTheyDoNotWaitForIt()
      throws Exception {
    try (LockClient client = LockClient.connect(url);
        Connection slow = connect();
        Statement statement = slow.createStatement()) {
      for (int i = 0; i < 20; i++) {
        client.lock("n" + i).acquire().close();
      }
      slow.setAutoCommit(false);
      statement.execute("SELECT 1 FROM " + prefix + "lock WHERE name = 'n7' FOR UPDATE");

      CompletableFuture<Lease> stuck = client.lock("n7").acquireAsync();
      long began = System.nanoTime();
      for (int round = 0; round < 5; round++) {
        List<CompletableFuture<Lease>> others = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
          if (i != 7) {
            others.add(client.lock("n" + i).acquireAsync());
          }
        }
        others.forEach(other -> other.orTimeout(20, TimeUnit.SECONDS).join().close());
      }
      Duration took = Duration.ofNanos(System.nanoTime() - began);

      assertThat(took).isLessThan(Duration.ofSeconds(20));
      assertThat(stuck).isNotDone();
      slow.rollback();
      stuck.orTimeout(20, TimeUnit.SECONDS).join().close();
    }
  }

  @Test
  void givenThreadThatIsInterruptedWhileItAsks_whenTheRowIsFree_thenTheSameConnectionGoesOn()
      throws Exception {
    String backends =
        "SELECT string_agg(pid::text, ' ' ORDER BY pid) FROM pg_stat_activity"
            + " WHERE application_name = 'mortise'";
    try (LockClient client = LockClient.connect(url + "&max-in-flight=20s");
        Connection slow = connect();
        Statement statement = slow.createStatement()) {
      for (int i = 0; i < 20; i++) {
        client.lock("a").acquire().close();
      }
      String[] before = ask(backends).split(" ");
      slow.setAutoCommit(false);
      statement.execute("SELECT 1 FROM " + prefix + "lock WHERE name = 'a' FOR UPDATE");
      for (int i = 0; i < 10; i++) {
        AtomicBoolean interrupted = new AtomicBoolean();
        Thread asks =
            new Thread(
                () -> {
                  try {
                    client.lock("a").acquire().close();
                  } catch (InterruptedException e) {
                    interrupted.set(true);
                  }
                });
        asks.start();
        TimeUnit.MILLISECONDS.sleep(i);
        asks.interrupt();
        asks.join(20_000);
        assertThat(interrupted).isTrue();
      }
      slow.rollback();
      client.lock("a").acquireWithin(Duration.ofSeconds(20)).close();
      // One that listens may have come meanwhile.
      assertThat(ask(backends).split(" ")).contains(before);
    }
  }

  @Test
  void givenLostColumn_whenAsked_thenTheStoreIsUnfit_untilItIsBack() {
    try (LockStore store = JdbcStore.open(url)) {
      TestSession session = new TestSession(store, Duration.ofSeconds(60));
      session.granted("a", session.attempt());

      sql("ALTER TABLE " + prefix + "lock DROP COLUMN label");
      assertThat(session.acquire("b", session.attempt())).isInstanceOf(Reply.Failed.class);
      sql("ALTER TABLE " + prefix + "lock ADD COLUMN label text COLLATE \"C\" NOT NULL DEFAULT ''");

      Awaitility.await()
          .atMost(Duration.ofSeconds(20))
          .until(() -> session.acquire("c", session.attempt()) instanceof Reply.Granted);
    }
  }

  @Test
  void givenServerThatStopsAnswering_whenAsked_thenItIsNoticedInTime_andAllIsWellAfterwards() {
    try (LockStore store = JdbcStore.open(url + "&max-in-flight=2s")) {
      TestSession session = new TestSession(store, Duration.ofSeconds(60));
      session.granted("a", session.attempt());

      server.pause();
      long began = System.nanoTime();
      Reply reply;
      try {
        reply = session.acquire("b", session.attempt());
      } finally {
        server.resume();
      }

      assertThat(reply).isInstanceOf(Reply.Failed.class);
      assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(15));
      Awaitility.await()
          .atMost(Duration.ofSeconds(30))
          .until(() -> session.acquire("c", session.attempt()) instanceof Reply.Granted);
    }
  }

  @Test
  void givenWaiters_whenHandedOver_thenTheyHearOfItSoonerThanByPolling() throws Exception {
    try (LockStore one = JdbcStore.open(url);
        LockStore two = JdbcStore.open(url)) {
      TestSession holder = new TestSession(one, Duration.ofSeconds(60));
      TestSession waiter = new TestSession(two, Duration.ofSeconds(60));
      // A busy machine may be slow to wake whom it should; polling alone never gets there.
      long median = Long.MAX_VALUE;
      for (int set = 0; set < 5 && median >= 100; set++) {
        median = Math.min(median, medianMillisOfHandOffs(holder, waiter));
      }
      assertThat(median).isLessThan(100);
      assertThat(ask("SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN \"mortise%'"))
          .isNotEqualTo("0");
    }
  }

  private static long medianMillisOfHandOffs(TestSession holder, TestSession waiter)
      throws InterruptedException {
    List<Long> millis = new ArrayList<>();
    for (int i = 0; i < 9; i++) {
      AttemptId held = holder.attempt();
      AttemptId waits = waiter.attempt();
      holder.granted("a", held);
      assertThat(waiter.acquire("a", waits)).isInstanceOf(Reply.Queued.class);
      // By then it polls slowly, because it has proven that it hears.
      TimeUnit.MILLISECONDS.sleep(300);
      waiter.hints.clear();
      long released = System.nanoTime();
      holder.abandon("a", held);
      assertThat(waiter.hints.poll(20, TimeUnit.SECONDS))
          .isInstanceOf(SessionNotification.HoldGranted.class);
      millis.add(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - released));
      waiter.abandon("a", waits);
    }
    return millis.stream().sorted().toList().get(4);
  }

  @Test
  void givenPoolerThroughWhichNothingIsHeard_whenHandedOver_thenPollingFindsIt()
      throws InterruptedException {
    PGSimpleDataSource direct = new PGSimpleDataSource();
    direct.setUrl(url.substring(0, url.indexOf("&prefix")));
    DataSource pooler = deafened(direct);
    try (LockClient one =
            LockClient.builder().store(JdbcStore.over(pooler, "prefix=" + prefix)).build();
        LockClient two =
            LockClient.builder().store(JdbcStore.over(pooler, "prefix=" + prefix)).build()) {
      for (int i = 0; i < 10; i++) {
        Lease held = one.lock("a").acquire();
        CompletableFuture<Lease> waits = two.lock("a").acquireAsync();
        held.close();
        waits.orTimeout(20, TimeUnit.SECONDS).join().close();
      }
    }
  }

  @Test
  void givenPoolWithoutAutoCommit_whenListening_thenNoTransactionStaysOpen() throws Exception {
    PGSimpleDataSource direct = new PGSimpleDataSource();
    direct.setUrl(url.substring(0, url.indexOf("&prefix")));
    DataSource pool =
        proxy(
            DataSource.class,
            direct,
            (name, result) -> {
              if (result instanceof Connection connection) {
                connection.setAutoCommit(false);
              }
              return result;
            });
    try (LockClient client =
            LockClient.builder().store(JdbcStore.over(pool, "prefix=" + prefix)).build();
        Lease held = client.lock("a").acquire();
        Connection watching = direct.getConnection();
        Statement statement = watching.createStatement()) {
      assertThat(held.isValid()).isTrue();
      Awaitility.await()
          .atMost(Duration.ofSeconds(20))
          .until(
              () -> {
                try (ResultSet row =
                    statement.executeQuery(
                        "SELECT state FROM pg_stat_activity WHERE query LIKE 'LISTEN%'")) {
                  return row.next() && row.getString(1).equals("idle");
                }
              });
    }
  }

  /** Swallows LISTEN, as a pooler does that gives out server connections per transaction. */
  private static DataSource deafened(DataSource direct) {
    return proxy(
        DataSource.class,
        direct,
        (name, result) ->
            result instanceof Connection connection
                ? proxy(
                    Connection.class,
                    connection,
                    (call, made) ->
                        call.equals("createStatement")
                            ? proxy(Statement.class, (Statement) made, (a, b) -> b)
                            : made)
                : result);
  }

  private interface Change {
    Object apply(String method, Object result) throws SQLException;
  }

  private static <T> T proxy(Class<T> type, T target, Change change) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (self, method, arguments) -> {
              if (method.getName().equals("execute")
                  && String.valueOf(arguments[0]).startsWith("LISTEN")) {
                return false;
              }
              try {
                return change.apply(method.getName(), method.invoke(target, arguments));
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            }));
  }
}
