package io.mortise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.mortise.LockName;
import io.mortise.jdbc.Database.Trouble;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.News;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreReport;
import io.mortise.testkit.Unpaused;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class LaneTest {
  @Test
  @Unpaused
  void givenConnectionThatWasIdleForTooLong_whenWorkComes_thenItGetsANewOne() {
    try (ServerDatabase h2 = database("lane")) {
      Forgetful database = new Forgetful(h2);
      try (Lane lane = new Lane("lane", database, new ReentrantLock(), news -> {})) {
        work(lane);
        work(lane);
        assertThat(database.connections).hasValue(1);
        Awaitility.await()
            .pollInterval(Forgetful.LIMIT.multipliedBy(2))
            .atMost(Duration.ofSeconds(10))
            .until(
                () -> {
                  work(lane);
                  return database.connections.get() > 1;
                });
      }
    }
  }

  @Test
  void givenConnectionOfAPool_whenItWasIdleForTooLong_thenItGoesBackAsItWas() {
    try (ServerDatabase h2 = database("pool")) {
      Lent database = new Lent(h2);
      Transactor transactor = new Transactor(database, new ReentrantLock());
      for (int i = 0; i < 3; i++) {
        assertThat(transactor.attempt(Link::now, new boolean[1])).isNull();
      }
      assertThat(database.connections).hasValue(3);
      assertThat(database.givenBack).hasValue(2);
      transactor.leave();
      assertThat(database.givenBack).hasValue(3);
    }
  }

  @Test
  void givenThreadThatWaits_whenTheLaneIsIdle_thenItServesItself_andNothingIsLeftLying() {
    try (ServerDatabase h2 = database("help");
        Lane lane = new Lane("lane", new Helped(h2), new ReentrantLock(), news -> {})) {
      // The first connects, which a caller does not.
      work(lane);
      int own = 0;
      for (int i = 0; i < 200 || (own <= 20 && i < 5_000); i++) {
        Work.Call<Thread> later = new Work.Call<>(link -> Thread.currentThread());
        Work.Call<Thread> now = new Work.Call<>(link -> Thread.currentThread());
        lane.submitLater(later);
        lane.submit(now);
        lane.help();
        own += TestSession.get(now.answer) == Thread.currentThread() ? 1 : 0;
        TestSession.get(later.answer);
      }
      assertThat(own).isGreaterThan(20);
      // Who helped before does not come back: the lane's thread looks all the same.
      for (int i = 0; i < 3; i++) {
        Work.Call<Thread> left = new Work.Call<>(link -> Thread.currentThread());
        lane.submit(left);
        assertThat(TestSession.get(left.answer)).isNotEqualTo(Thread.currentThread());
        Work.Call<Thread> later = new Work.Call<>(link -> Thread.currentThread());
        lane.submitLater(later);
        assertThat(TestSession.get(later.answer)).isNotEqualTo(Thread.currentThread());
        work(lane);
        lane.help();
      }
    }
  }

  @Test
  void givenManyThreads_whenEachHelps_thenEachGetsItsAnswer() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(8);
    try (ServerDatabase h2 = database("many");
        Lane lane = new Lane("lane", new Helped(h2), new ReentrantLock(), news -> {})) {
      List<Future<?>> all = new ArrayList<>();
      for (int t = 0; t < 8; t++) {
        boolean helps = t < 6;
        all.add(
            threads.submit(
                () -> {
                  for (int i = 0; i < 300; i++) {
                    Work.Call<Long> call = new Work.Call<>(Link::now);
                    if (i % 3 == 0) {
                      lane.submitLater(call);
                    } else {
                      lane.submit(call);
                    }
                    if (helps) {
                      lane.help();
                    }
                    assertThat(TestSession.get(call.answer)).isPositive();
                  }
                }));
      }
      for (Future<?> each : all) {
        each.get(50, TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void givenRequestsThatCameMeanwhile_thenReleasesOfOtherLocksGoFirst_andEachLockKeepsItsOrder()
      throws Exception {
    List<String> served = Collections.synchronizedList(new ArrayList<>());
    try (ServerDatabase h2 = database("first");
        Lane lane = new Lane("lane", new Server(h2), new ReentrantLock(), news -> {})) {
      CountDownLatch free = keepBusy(lane);
      for (String what : List.of("take a", "take b", "give c", "give a", "take c")) {
        lane.submit(new Noted(what, served));
      }
      free.countDown();
      // What waits behind another of the same lock is served after all that came with it.
      await().until(() -> served.size() == 5);
    }
    assertThat(served).containsExactly("give c", "take a", "take b", "give a", "take c");
  }

  @Test
  void givenRowThatIsLocked_whenOthersTravelTogether_thenNobodyPassesWhoWaitsForIt()
      throws Exception {
    List<String> served = Collections.synchronizedList(new ArrayList<>());
    try (ServerDatabase h2 = database("aside");
        Lane lane =
            new Lane(
                "lane",
                new Server(h2) {
                  @Override
                  public Link connect() throws SQLException {
                    return serving();
                  }
                },
                new ReentrantLock(),
                news -> {})) {
      CountDownLatch free = keepBusy(lane);
      lane.submit(new MeetsLockedRow("first a", served));
      lane.submit(new Noted("first b", served));
      lane.submit(new Together("second a", served));
      lane.submit(new Together("second b", served));
      lane.submit(new Together("first c", served));
      free.countDown();
      await().until(() -> served.size() == 5);
    }
    assertThat(served).containsSubsequence("first a", "second a");
  }

  /** A connection by which all that travel together are served. */
  private static Link serving() throws SQLException {
    Connection connection = java.sql.DriverManager.getConnection("jdbc:h2:mem:serving");
    Rows rows =
        new Rows(connection, new SqlText("h2", SqlText.DEFAULT_PREFIX), "default") {
          @Override
          Map<String, Block> together(List<Ask> asks) {
            Map<String, Block> all = new HashMap<>();
            asks.forEach(ask -> all.put(ask.request().attempt().encoded(), new Block(1, 1)));
            return all;
          }
        };
    return new Link(connection, rows, new NoTransactions());
  }

  /** Has a lane do something until the latch is opened that is returned. */
  private static CountDownLatch keepBusy(Lane lane) throws InterruptedException {
    CountDownLatch busy = new CountDownLatch(1);
    CountDownLatch free = new CountDownLatch(1);
    lane.submit(
        new Work.Call<>(
            link -> {
              busy.countDown();
              return awaited(free);
            }));
    assertThat(busy.await(20, TimeUnit.SECONDS)).isTrue();
    return free;
  }

  private static boolean awaited(CountDownLatch latch) {
    try {
      return latch.await(20, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** A request for the lock of its last letter that writes down when it is served. */
  private static class Noted extends Work {
    private static final AttemptId ATTEMPT = new AttemptId(new SessionId("sessionAaaaa"), 1);

    private final String what;
    private final List<String> served;

    Noted(String what, List<String> served) {
      this.what = what;
      this.served = served;
    }

    @Override
    Request request() {
      String name = what.substring(what.length() - 1);
      return what.startsWith("give")
          ? new Request.Abandon(LockName.of(name), ATTEMPT)
          : TestSession.request(name, ATTEMPT, Mode.EXCLUSIVE, true, TestSession.NO_TERMS, null);
    }

    @Override
    void run(@Nullable Link link) throws SQLException {
      note();
    }

    final void note() {
      served.add(what);
    }

    @Override
    void done() {}

    @Override
    void failed(Trouble trouble, boolean mayHaveRun, RuntimeException cause) {
      served.add(what + " failed: " + cause);
    }
  }

  /** Served with others in one statement. */
  private static final class Together extends Noted {
    Together(String what, List<String> served) {
      super(what, served);
    }

    @Override
    boolean hasFastPath() {
      return true;
    }

    @Override
    void take(Reply reply) {
      note();
    }
  }

  /** Finds its row locked the first time. */
  private static final class MeetsLockedRow extends Noted {
    private boolean met;

    MeetsLockedRow(String what, List<String> served) {
      super(what, served);
    }

    @Override
    void run(@Nullable Link link) throws SQLException {
      if (!met) {
        met = true;
        throw new SQLException("Timeout trying to lock table", "HYT00", 50200);
      }
      super.run(link);
    }
  }

  private static ServerDatabase database(String name) {
    return new ServerDatabase(
            new H2Dialect(),
            () ->
                java.sql.DriverManager.getConnection("jdbc:h2:mem:" + name + ";DB_CLOSE_DELAY=-1"),
            false,
            "h2",
            SqlText.DEFAULT_PREFIX,
            "default",
            Duration.ofSeconds(5))
        .prepare(true);
  }

  private static void work(Lane lane) {
    Work.Call<Long> call = new Work.Call<>(Link::now);
    lane.submit(call);
    assertThat(TestSession.get(call.answer)).isPositive();
  }

  /** Ends idle connections early. */
  private static final class Forgetful extends Helped {
    static final Duration LIMIT = Duration.ofMillis(500);

    final AtomicInteger connections = new AtomicInteger();

    Forgetful(Database database) {
      super(database);
    }

    @Override
    public Link connect() throws SQLException {
      connections.incrementAndGet();
      return super.connect();
    }

    @Override
    public Duration idleLimit() {
      return LIMIT;
    }
  }

  /** A pool, whose connections are idle for too long at once. */
  private static final class Lent extends Helped {
    final AtomicInteger connections = new AtomicInteger();
    final AtomicInteger givenBack = new AtomicInteger();

    Lent(Database database) {
      super(database);
    }

    @Override
    public boolean borrows() {
      return true;
    }

    @Override
    public Duration idleLimit() {
      return Duration.ZERO;
    }

    @Override
    public Link connect() throws SQLException {
      connections.incrementAndGet();
      Connection connection = java.sql.DriverManager.getConnection("jdbc:h2:mem:lent");
      Rows rows = new Rows(connection, new SqlText("h2", SqlText.DEFAULT_PREFIX), "default");
      return new Link(
          connection,
          rows,
          new NoTransactions() {
            @Override
            public void leave() {
              givenBack.incrementAndGet();
            }
          });
    }
  }

  private static class NoTransactions implements Link.Transactions {
    @Override
    public void begin(Rows.@Nullable Expected expected) {}

    @Override
    public void commit(List<News> told) {}

    @Override
    public void rollback() {}

    @Override
    public long now() {
      return 1;
    }
  }

  /** Asked by the lane's thread only, for several at a time. */
  private static class Server extends Helped {
    Server(Database database) {
      super(database);
    }

    @Override
    public int batch() {
      return 64;
    }

    @Override
    public boolean callerRuns() {
      return false;
    }
  }

  /** Lets callers ask for themselves. */
  private static class Helped implements Database {
    private final Database database;

    Helped(Database database) {
      this.database = database;
    }

    @Override
    public boolean callerHelps() {
      return true;
    }

    @Override
    public StoreProfile profile() {
      return database.profile();
    }

    @Override
    public Link connect() throws SQLException {
      return database.connect();
    }

    @Override
    public StoreReport examine(Connection connection) throws SQLException {
      return database.examine(connection);
    }

    @Override
    public Trouble trouble(SQLException error) {
      return database.trouble(error);
    }

    @Override
    public boolean callerRuns() {
      return database.callerRuns();
    }

    @Override
    public int batch() {
      return database.batch();
    }
  }
}
