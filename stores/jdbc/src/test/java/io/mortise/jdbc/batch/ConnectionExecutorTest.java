package io.mortise.jdbc.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.LockName;
import io.mortise.jdbc.TestSession;
import io.mortise.jdbc.dialect.SqliteFile;
import io.mortise.jdbc.table.Database;
import io.mortise.jdbc.table.Database.ErrorKind;
import io.mortise.jdbc.table.LockRepository;
import io.mortise.jdbc.table.ServingRepository;
import io.mortise.jdbc.table.SqlText;
import io.mortise.jdbc.table.StoreConnection;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;
import io.mortise.spi.time.WallClock;
import io.mortise.testkit.ManualTime;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConnectionExecutorTest {
  static final SqlText TEXT = new SqlText("sqlite", SqlText.DEFAULT_PREFIX);

  /** A database of its own for each connection. */
  static final String MEMORY = "jdbc:sqlite::memory:";

  @TempDir Path directory;

  @Test
  void givenConnectionThatWasIdleForTooLong_whenWorkComes_thenItGetsANewOne() {
    ManualTime time = new ManualTime();
    try (Database file = database("lane")) {
      ShortIdleDatabase database = new ShortIdleDatabase(file);
      try (ConnectionExecutor connectionExecutor =
          new ConnectionExecutor(
              "lane", database, time, new ReentrantLock(), notifications -> {})) {
        work(connectionExecutor);
        time.advance(ShortIdleDatabase.LIMIT);
        work(connectionExecutor);
        assertThat(database.connections).hasValue(1);
        time.advance(ShortIdleDatabase.LIMIT.plusNanos(1));
        work(connectionExecutor);
        assertThat(database.connections).hasValue(2);
      }
    }
  }

  @Test
  void givenConnectionOfAPool_whenItWasIdleForTooLong_thenItGoesBackAsItWas() {
    try (Database file = database("pool")) {
      PooledDatabase database = new PooledDatabase(file);
      TransactionRunner transactionRunner =
          new TransactionRunner(database, Ticker.SYSTEM, new ReentrantLock());
      for (int i = 0; i < 3; i++) {
        assertThat(transactionRunner.attemptRead(StoreConnection::now)).isNull();
      }
      assertThat(database.connections).hasValue(3);
      assertThat(database.givenBack).hasValue(2);
      transactionRunner.detach();
      assertThat(database.givenBack).hasValue(3);
    }
  }

  @Test
  void givenThreadThatWaits_whenTheLaneIsIdle_thenItServesItself_andNothingIsLeftLying() {
    try (Database file = database("help");
        ConnectionExecutor connectionExecutor =
            new ConnectionExecutor(
                "lane",
                new CallerHelpedDatabase(file),
                Ticker.SYSTEM,
                new ReentrantLock(),
                notifications -> {})) {
      // The first connects, which a caller does not.
      work(connectionExecutor);
      int own = 0;
      for (int i = 0; i < 200 || (own <= 20 && i < 5_000); i++) {
        StoreTask.ValueTask<Thread> later =
            new StoreTask.ValueTask<>(storeConnection -> Thread.currentThread());
        StoreTask.ValueTask<Thread> now =
            new StoreTask.ValueTask<>(storeConnection -> Thread.currentThread());
        connectionExecutor.submitLater(later);
        connectionExecutor.submit(now);
        connectionExecutor.runOnCaller();
        own += TestSession.get(now.answer) == Thread.currentThread() ? 1 : 0;
        TestSession.get(later.answer);
      }
      assertThat(own).isGreaterThan(20);
      // The caller that led before does not come back: the executor's thread looks all the same.
      for (int i = 0; i < 3; i++) {
        StoreTask.ValueTask<Thread> left =
            new StoreTask.ValueTask<>(storeConnection -> Thread.currentThread());
        connectionExecutor.submit(left);
        assertThat(TestSession.get(left.answer)).isNotEqualTo(Thread.currentThread());
        StoreTask.ValueTask<Thread> later =
            new StoreTask.ValueTask<>(storeConnection -> Thread.currentThread());
        connectionExecutor.submitLater(later);
        assertThat(TestSession.get(later.answer)).isNotEqualTo(Thread.currentThread());
        work(connectionExecutor);
        connectionExecutor.runOnCaller();
      }
    }
  }

  @Test
  void givenManyThreads_whenEachHelps_thenEachGetsItsAnswer() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(8);
    try (Database file = database("many");
        ConnectionExecutor connectionExecutor =
            new ConnectionExecutor(
                "lane",
                new CallerHelpedDatabase(file),
                Ticker.SYSTEM,
                new ReentrantLock(),
                notifications -> {})) {
      List<Future<?>> all = new ArrayList<>();
      for (int t = 0; t < 8; t++) {
        boolean helps = t < 6;
        all.add(
            threads.submit(
                () -> {
                  for (int i = 0; i < 300; i++) {
                    StoreTask.ValueTask<Long> valueTask =
                        new StoreTask.ValueTask<>(StoreConnection::now);
                    if (i % 3 == 0) {
                      connectionExecutor.submitLater(valueTask);
                    } else {
                      connectionExecutor.submit(valueTask);
                    }
                    if (helps) {
                      connectionExecutor.runOnCaller();
                    }
                    assertThat(TestSession.get(valueTask.answer)).isPositive();
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
    try (Database file = database("first");
        ConnectionExecutor connectionExecutor =
            new ConnectionExecutor(
                "lane",
                new SingleThreadDatabase(file),
                Ticker.SYSTEM,
                new ReentrantLock(),
                notifications -> {})) {
      CountDownLatch free = keepBusy(connectionExecutor);
      for (String what : List.of("take a", "take b", "give c", "give a", "take c")) {
        connectionExecutor.submit(new RecordingTask(what, served));
      }
      free.countDown();
      // A request behind another on the same lock is served after the rest of its round.
      await().until(() -> served.size() == 5);
    }
    assertThat(served).containsExactly("give c", "take a", "take b", "give a", "take c");
  }

  @Test
  void givenManyThatWantOneLock_whenItIsReleased_thenThatGoesFirst() throws Exception {
    List<String> served = Collections.synchronizedList(new ArrayList<>());
    try (Database file = database("crowd");
        ConnectionExecutor connectionExecutor =
            new ConnectionExecutor(
                "lane",
                new SingleThreadDatabase(file),
                Ticker.SYSTEM,
                new ReentrantLock(),
                notifications -> {})) {
      CountDownLatch free = keepBusy(connectionExecutor);
      for (int i = 2; i < 500; i++) {
        AttemptId attempt = new AttemptId(RecordingTask.ATTEMPT.session(), i);
        connectionExecutor.submit(new RecordingTask("take a", served, attempt));
      }
      connectionExecutor.submit(new RecordingTask("give a", served));
      free.countDown();
      await().until(() -> served.size() == 499);
    }
    assertThat(served.get(0)).isEqualTo("give a");
  }

  @Test
  void givenSeveralStatementsInOneText_thenEndsCommitFirst_andAcquiresOfALockShareATransaction()
      throws Exception {
    assertThat(transactionsOfACrowd(true))
        .containsExactly(
            "give a",
            "give b",
            "give a, give a",
            "give b",
            "take a, take a, take a",
            "take b, take b");
  }

  @Test
  void givenOneStatementAtATime_thenEachRequestHasATransaction_andEndsCommitFirst()
      throws Exception {
    assertThat(transactionsOfACrowd(false))
        .containsExactly(
            "give a", "give b", "give a", "give a", "give b", "take a", "take a", "take b",
            "take a", "take b");
  }

  /** The requests of each transaction, while many want two locks. */
  private List<String> transactionsOfACrowd(boolean takesSeveral) throws Exception {
    List<String> transactions = Collections.synchronizedList(new ArrayList<>());
    List<String> served = Collections.synchronizedList(new ArrayList<>());
    Connection connection = DriverManager.getConnection(MEMORY);
    LockRepository repository =
        new LockRepository(connection, TEXT, "default") {
          @Override
          public boolean takesSeveral() {
            return takesSeveral;
          }
        };
    NoTransactions recording =
        new NoTransactions() {
          @Override
          public void commit(List<SessionNotification> told) {
            transactions.add(String.join(", ", served));
            served.clear();
          }
        };
    try (Database file = database("crowds");
        ConnectionExecutor connectionExecutor =
            new ConnectionExecutor(
                "lane",
                new SingleThreadDatabase(file) {
                  @Override
                  public StoreConnection connect() {
                    return new StoreConnection(connection, repository, recording);
                  }
                },
                Ticker.SYSTEM,
                new ReentrantLock(),
                notifications -> {})) {
      CountDownLatch free = keepBusy(connectionExecutor);
      List<String> asked =
          List.of(
              "take a", "take a", "give a", "take b", "give b", "give a", "take a", "give a",
              "take b", "give b");
      CountDownLatch answers = new CountDownLatch(asked.size());
      long number = 0;
      for (String what : asked) {
        AttemptId attempt = new AttemptId(RecordingTask.ATTEMPT.session(), ++number);
        connectionExecutor.submit(
            new RecordingTask(what, served, attempt) {
              @Override
              public void done() {
                answers.countDown();
              }
            });
      }
      free.countDown();
      assertThat(awaited(answers)).isTrue();
    }
    // The first kept the executor busy, and the last closed it.
    return transactions.stream().filter(one -> !one.isEmpty()).toList();
  }

  @Test
  void givenRowThatIsLocked_whenOthersTravelTogether_thenNobodyPassesWhoWaitsForIt()
      throws Exception {
    List<String> served = Collections.synchronizedList(new ArrayList<>());
    try (Database file = database("aside");
        ConnectionExecutor connectionExecutor =
            new ConnectionExecutor(
                "lane",
                new SingleThreadDatabase(file) {
                  @Override
                  public StoreConnection connect() throws SQLException {
                    return serving();
                  }
                },
                Ticker.SYSTEM,
                new ReentrantLock(),
                notifications -> {})) {
      CountDownLatch free = keepBusy(connectionExecutor);
      connectionExecutor.submit(new LockedRowTask("first a", served));
      connectionExecutor.submit(new RecordingTask("first b", served));
      connectionExecutor.submit(new BatchableTask("second a", served));
      connectionExecutor.submit(new BatchableTask("second b", served));
      connectionExecutor.submit(new BatchableTask("first c", served));
      free.countDown();
      await().until(() -> served.size() == 5);
    }
    assertThat(served).containsSubsequence("first a", "second a");
  }

  @Test
  void givenManyTasksThatNobodyWaitsFor_thenMoreOfThemTravelTogether() throws Exception {
    assertThat(sizesOf("abcdefghijkl")).containsExactly(4, 4, 4);
    assertThat(sizesOf("k")).containsExactly(8, 4);
    assertThat(sizesOf("a")).containsExactly(4, 8);
  }

  /**
   * How many of twelve tasks travel together: four if one of them is waited for, else eight.
   *
   * @param waitedFor those
   */
  private List<Integer> sizesOf(String waitedFor) throws Exception {
    List<String> served = Collections.synchronizedList(new ArrayList<>());
    Connection connection = DriverManager.getConnection(MEMORY);
    ServingRepository repository = new ServingRepository(connection);
    try (Database file = database("sizes");
        ConnectionExecutor connectionExecutor =
            new ConnectionExecutor(
                "lane",
                new SingleThreadDatabase(file) {
                  @Override
                  public StoreConnection connect() {
                    return new StoreConnection(connection, repository, new NoTransactions());
                  }

                  @Override
                  public int batch() {
                    return 4;
                  }

                  @Override
                  public int deferredBatch() {
                    return 8;
                  }
                },
                Ticker.SYSTEM,
                new ReentrantLock(),
                notifications -> {})) {
      CountDownLatch free = keepBusy(connectionExecutor);
      for (char name = 'a'; name <= 'l'; name++) {
        BatchableTask task = new BatchableTask("take " + name, served);
        if (waitedFor.indexOf(name) < 0) {
          connectionExecutor.submitLater(task);
        } else {
          connectionExecutor.submit(task);
        }
      }
      free.countDown();
      await().until(() -> served.size() == 12);
    }
    return repository.sizes;
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void givenErrorOfADriver_thenItsRequestFails_andTheNextIsServed(boolean callerRuns) {
    try (Database file = database("error" + callerRuns);
        ConnectionExecutor connectionExecutor =
            new ConnectionExecutor(
                "lane",
                callerRuns ? new CallerRunDatabase(file) : new SingleThreadDatabase(file),
                Ticker.SYSTEM,
                new ReentrantLock(),
                notifications -> {})) {
      StoreTask.ValueTask<Long> failing =
          new StoreTask.ValueTask<>(
              storeConnection -> {
                throw new LinkageError("for a test");
              });
      connectionExecutor.submit(failing);
      assertThatThrownBy(() -> TestSession.get(failing.answer))
          .rootCause()
          .isInstanceOf(LinkageError.class);
      work(connectionExecutor);
    }
  }

  @Test
  void givenErrorOfAReceiver_thenTheNextIsServed() {
    CountDownLatch told = new CountDownLatch(1);
    try (Database file = database("receiver");
        ConnectionExecutor connectionExecutor =
            new ConnectionExecutor(
                "lane",
                new SingleThreadDatabase(file),
                Ticker.SYSTEM,
                new ReentrantLock(),
                notifications -> {})) {
      connectionExecutor.submit(
          new RecordingTask("take a", new ArrayList<>()) {
            @Override
            public void done() {
              told.countDown();
              throw new LinkageError("for a test");
            }
          });
      assertThat(awaited(told)).isTrue();
      work(connectionExecutor);
    }
  }

  @Test
  void givenDataSourceThatNeverAnswers_thenRequestsFailInTime_andAreServedOnceItDoes() {
    ManualTime time = new ManualTime();
    try (Database file = database("stuck")) {
      StuckDatabase database = new StuckDatabase(file);
      try (ConnectionExecutor connectionExecutor =
          new ConnectionExecutor(
              "lane", database, time, new ReentrantLock(), notifications -> {})) {
        for (int i = 0; i < 2; i++) {
          StoreTask.ValueTask<Long> valueTask = new StoreTask.ValueTask<>(StoreConnection::now);
          connectionExecutor.submit(valueTask);
          assertThatThrownBy(() -> TestSession.get(valueTask.answer))
              .hasStackTraceContaining("gave no connection within");
        }
        assertThat(database.connections).hasValue(1);
        time.advance(Duration.ofMinutes(4));
        work(connectionExecutor);
        assertThat(database.connections).hasValue(2);
      } finally {
        database.answers.countDown();
      }
      await().atMost(Duration.ofSeconds(20)).until(() -> database.givenBack.get() == 2);
    }
  }

  /** A connection by which all that travel together are served. */
  private static StoreConnection serving() throws SQLException {
    Connection connection = DriverManager.getConnection(MEMORY);
    return new StoreConnection(connection, new ServingRepository(connection), new NoTransactions());
  }

  /** Has an executor do something until the latch is opened that is returned. */
  private static CountDownLatch keepBusy(ConnectionExecutor connectionExecutor)
      throws InterruptedException {
    CountDownLatch busy = new CountDownLatch(1);
    CountDownLatch free = new CountDownLatch(1);
    connectionExecutor.submit(
        new StoreTask.ValueTask<>(
            storeConnection -> {
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
  private static class RecordingTask extends StoreTask {
    private static final AttemptId ATTEMPT = new AttemptId(new SessionId("sessionAaaaa"), 1);

    private final String what;
    private final List<String> served;
    private final AttemptId attempt;

    RecordingTask(String what, List<String> served) {
      this(what, served, ATTEMPT);
    }

    RecordingTask(String what, List<String> served, AttemptId attempt) {
      this.what = what;
      this.served = served;
      this.attempt = attempt;
    }

    @Override
    public Request request() {
      String name = what.substring(what.length() - 1);
      return what.startsWith("give")
          ? new Request.Abandon(LockName.of(name), attempt)
          : TestSession.request(name, attempt, Mode.EXCLUSIVE, true, TestSession.NO_TERMS, null);
    }

    @Override
    public void run(@Nullable StoreConnection storeConnection) throws SQLException {
      note();
    }

    final void note() {
      served.add(what);
    }

    @Override
    public void done() {}

    @Override
    public void failed(ErrorKind errorKind, boolean mayHaveRun, RuntimeException cause) {
      served.add(what + " failed: " + cause);
    }
  }

  /** Served with others in one statement. */
  private static final class BatchableTask extends RecordingTask {
    BatchableTask(String what, List<String> served) {
      super(what, served);
    }

    @Override
    public boolean hasFastPath() {
      return true;
    }

    @Override
    public void take(Reply reply) {
      note();
    }
  }

  /** Finds its row locked the first time. */
  private static final class LockedRowTask extends RecordingTask {
    private boolean met;

    LockedRowTask(String what, List<String> served) {
      super(what, served);
    }

    @Override
    public void run(@Nullable StoreConnection storeConnection) throws SQLException {
      if (!met) {
        met = true;
        throw new SQLException("database is locked", null, 5);
      }
      super.run(storeConnection);
    }
  }

  private Database database(String name) {
    return database(directory.resolve(name + ".db"));
  }

  static Database database(Path file) {
    return SqliteFile.open(
        StoreUrl.parse("jdbc:sqlite:" + file),
        TEXT,
        "default",
        true,
        Ticker.SYSTEM,
        WallClock.SYSTEM);
  }

  private static void work(ConnectionExecutor connectionExecutor) {
    StoreTask.ValueTask<Long> valueTask = new StoreTask.ValueTask<>(StoreConnection::now);
    connectionExecutor.submit(valueTask);
    assertThat(TestSession.get(valueTask.answer)).isPositive();
  }

  /** Ends idle connections early. */
  private static final class ShortIdleDatabase extends CallerHelpedDatabase {
    static final Duration LIMIT = Duration.ofMillis(500);

    final AtomicInteger connections = new AtomicInteger();

    ShortIdleDatabase(Database database) {
      super(database);
    }

    @Override
    public StoreConnection connect() throws SQLException {
      connections.incrementAndGet();
      return super.connect();
    }

    @Override
    public Duration idleLimit() {
      return LIMIT;
    }
  }

  /** A pool, whose connections are idle for too long at once. */
  private static final class PooledDatabase extends CallerHelpedDatabase {
    final AtomicInteger connections = new AtomicInteger();
    final AtomicInteger givenBack = new AtomicInteger();

    PooledDatabase(Database database) {
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
    public StoreConnection connect() throws SQLException {
      connections.incrementAndGet();
      Connection connection = DriverManager.getConnection(MEMORY);
      LockRepository lockRepository = new LockRepository(connection, TEXT, "default");
      return new StoreConnection(
          connection,
          lockRepository,
          new NoTransactions() {
            @Override
            public void detach() {
              givenBack.incrementAndGet();
            }
          });
    }
  }

  /** A data source that does not answer the first who asks. */
  private static final class StuckDatabase extends SingleThreadDatabase {
    final CountDownLatch answers = new CountDownLatch(1);
    final AtomicInteger connections = new AtomicInteger();
    final AtomicInteger givenBack = new AtomicInteger();

    StuckDatabase(Database database) {
      super(database);
    }

    @Override
    public boolean borrows() {
      return true;
    }

    @Override
    public StoreProfile profile() {
      StoreProfile profile = super.profile();
      return new StoreProfile(
          profile.display(),
          profile.capabilities(),
          Duration.ofSeconds(4),
          profile.minTtl(),
          profile.expiryLag());
    }

    @Override
    public StoreConnection connect() throws SQLException {
      if (connections.incrementAndGet() == 1) {
        try {
          answers.await();
        } catch (InterruptedException e) {
          throw new SQLException(e);
        }
      }
      Connection connection = DriverManager.getConnection(MEMORY);
      LockRepository lockRepository = new LockRepository(connection, TEXT, "default");
      return new StoreConnection(
          connection,
          lockRepository,
          new NoTransactions() {
            @Override
            public void detach() {
              givenBack.incrementAndGet();
            }
          });
    }
  }

  static class NoTransactions implements StoreConnection.Transactions {
    @Override
    public void begin(LockRepository.@Nullable PrefetchTarget prefetchTarget) {}

    @Override
    public void commit(List<SessionNotification> told) {}

    @Override
    public void rollback() {}

    @Override
    public long now() {
      return 1;
    }
  }

  /** Asked by the executor's thread only, for several at a time. */
  private static class SingleThreadDatabase extends CallerHelpedDatabase {
    SingleThreadDatabase(Database database) {
      super(database);
    }

    @Override
    public int batch() {
      return 64;
    }
  }

  /** Is asked by the threads that want something of it. */
  private static final class CallerRunDatabase extends CallerHelpedDatabase {
    CallerRunDatabase(Database database) {
      super(database);
    }

    @Override
    public boolean callerRuns() {
      return true;
    }
  }

  /** Lets callers ask for themselves. */
  static class CallerHelpedDatabase implements Database {
    private final Database database;

    CallerHelpedDatabase(Database database) {
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
    public StoreConnection connect() throws SQLException {
      return database.connect();
    }

    @Override
    public StoreReport examine(Connection connection) throws SQLException {
      return database.examine(connection);
    }

    @Override
    public ErrorKind errorKind(SQLException error) {
      return database.errorKind(error);
    }

    @Override
    public boolean callerRuns() {
      return false;
    }

    @Override
    public int batch() {
      return 1;
    }
  }
}
