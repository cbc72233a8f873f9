package io.mortise.jdbc.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.admin.LockQuery;
import io.mortise.jdbc.JdbcStore;
import io.mortise.jdbc.PostgresServers;
import io.mortise.jdbc.TestSession;
import io.mortise.jdbc.dialect.PostgresDialect;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionNotification;
import io.mortise.testkit.BoundedWait;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The steps of several statements wait for the lock's row first, and for no other: they see the
 * changes that others commit meanwhile.
 */
class LockedRowTest {
  private static final Duration BOUND = Duration.ofSeconds(8);
  private static final String NAME = "lock";

  private final String namespace = PostgresServers.namespace();
  private LockStore store;
  private Connection connection;
  private Connection changing;
  private Connection elsewhere;
  private Connection watching;
  private StoreConnection storeConnection;
  private AttemptId held;
  private TestSession session;

  @BeforeEach
  void prepare() throws SQLException {
    String url = PostgresServers.V18.shared().url();
    store = JdbcStore.open(url + "&namespace=" + namespace);
    session = new TestSession(store, Duration.ofMinutes(1));
    held = session.attempt();
    session.granted(NAME, held);
    session.granted("other", session.attempt());
    connection = DriverManager.getConnection(url);
    changing = DriverManager.getConnection(url);
    elsewhere = DriverManager.getConnection(url);
    watching = DriverManager.getConnection(url);
    PostgresDialect dialect = new PostgresDialect();
    dialect.setUp(connection, "the test's store", BOUND);
    execute(connection, "SET lock_timeout = 0; SET statement_timeout = 0");
    storeConnection =
        dialect.storeConnection(
            connection,
            new SqlText(dialect.folders(), SqlText.DEFAULT_PREFIX),
            namespace,
            id -> false);
    keep(elsewhere, "other");
    keep(changing, NAME);
  }

  @AfterEach
  void close() throws SQLException {
    for (Connection one : new Connection[] {elsewhere, changing, connection, watching}) {
      if (one != null) {
        one.close();
      }
    }
    if (store != null) {
      store.close();
    }
  }

  private void keep(Connection keeping, String name) throws SQLException {
    keeping.setAutoCommit(false);
    execute(keeping, "SELECT 1 FROM mortise_lock WHERE " + lock(name) + " FOR UPDATE");
  }

  private String lock(String name) {
    return "namespace = '" + namespace + "' AND name = '" + name + "'";
  }

  private static void execute(Connection on, String sql) throws SQLException {
    try (Statement statement = on.createStatement()) {
      statement.execute(sql);
    }
  }

  @Test
  void givenLock_whenItIsReleasedWhileOneWaitsToJoinTheQueue_thenThatOneHasIt() throws Exception {
    Request.Acquire acquire = acquire(session.attempt());
    Reply reply =
        meanwhile(
            "UPDATE mortise_lock SET owner = NULL, used = 0 WHERE " + lock(NAME),
            () -> ContendedRequestRunner.reply(storeConnection, acquire));
    assertThat(reply).isInstanceOf(Reply.Granted.class);
  }

  @Test
  void givenQueue_whenItsHeadLeavesWhileTheHolderReleases_thenTheNextHasTheLock() throws Exception {
    changing.rollback();
    AttemptId gone = session.attempt();
    AttemptId next = session.attempt();
    assertThat(ContendedRequestRunner.reply(storeConnection, acquire(gone)))
        .isInstanceOf(Reply.Queued.class);
    assertThat(ContendedRequestRunner.reply(storeConnection, acquire(next)))
        .isInstanceOf(Reply.Queued.class);
    storeConnection.takeNotifications();
    keep(changing, NAME);
    Reply reply =
        meanwhile(
            "DELETE FROM mortise_wait WHERE "
                + lock(NAME)
                + " AND attempt = '"
                + gone.encoded()
                + "'; UPDATE mortise_lock SET waiters = 1 WHERE "
                + lock(NAME),
            () ->
                ContendedRequestRunner.reply(
                    storeConnection, new Request.Abandon(LockName.of(NAME), held)));
    assertThat(reply).isInstanceOf(Reply.Ended.class);
    assertThat(storeConnection.takeNotifications())
        .extracting(SessionNotification::attempt)
        .containsExactly(next);
  }

  @Test
  void givenOthersThatNotifyAndTakeLongToCommit_whenHandedOver_thenItIsNotTakenForATryInVain()
      throws Exception {
    changing.rollback();
    execute(connection, "SET lock_timeout = 10");
    AtomicBoolean over = new AtomicBoolean();
    // Each keeps for 100 ms what one at a time has who notifies.
    execute(
        elsewhere,
        "SET commit_delay = 100000; SET commit_siblings = 0; CREATE TEMP TABLE t (a int)");
    elsewhere.commit();
    FutureTask<Boolean> notifying =
        new FutureTask<>(
            () -> {
              while (!over.get()) {
                execute(
                    elsewhere,
                    "UPDATE mortise_lock SET touched_us = touched_us + 1 WHERE " + lock("other"));
                execute(elsewhere, "NOTIFY somebody");
                elsewhere.commit();
              }
              return true;
            });
    new Thread(notifying, "notifies").start();
    try {
      AttemptId holder = held;
      for (int i = 0; i < 5; i++) {
        AttemptId next = session.attempt();
        assertThat(ContendedRequestRunner.reply(storeConnection, acquire(next)))
            .isInstanceOf(Reply.Queued.class);
        assertThat(
                ContendedRequestRunner.reply(
                    storeConnection, new Request.Abandon(LockName.of(NAME), holder)))
            .isInstanceOf(Reply.Ended.class);
        storeConnection.repository.notify("somebody_else", "news");
        holder = next;
      }
    } finally {
      over.set(true);
      assertThat(notifying.get(BOUND.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
    }
  }

  @Test
  void givenLockWhoseRowSomebodyKeepsLocked_whenInspected_thenItIsShownAllTheSame()
      throws Exception {
    LockQuery query = LockQuery.of(NAME);
    assertThat(BoundedWait.join(store.inspect(query)).items())
        .singleElement()
        .satisfies(view -> assertThat(view.holders()).hasSize(1));
  }

  private static Request.Acquire acquire(AttemptId attempt) {
    return new Request.Acquire(
        LockName.of(NAME), attempt, Mode.EXCLUSIVE, true, HoldTerms.NONE, 1, 0, null);
  }

  /** Does it while somebody else, who has the row, makes a change. */
  private Reply meanwhile(String change, Callable<Reply> step)
      throws SQLException, ExecutionException, InterruptedException, TimeoutException {
    String waits =
        "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND pid = "
            + backend(connection);
    FutureTask<Reply> task = new FutureTask<>(step);
    Thread thread = new Thread(task, "waits for the row");
    thread.setDaemon(true);
    thread.start();
    Awaitility.await().atMost(BOUND).until(() -> task.isDone() || hasRow(waits));
    execute(changing, change);
    changing.commit();
    return task.get(BOUND.toMillis(), TimeUnit.MILLISECONDS);
  }

  private static long backend(Connection of) throws SQLException {
    try (Statement statement = of.createStatement();
        ResultSet row = statement.executeQuery("SELECT pg_backend_pid()")) {
      row.next();
      return row.getLong(1);
    }
  }

  private boolean hasRow(String query) throws SQLException {
    try (Statement statement = watching.createStatement();
        ResultSet row = statement.executeQuery(query)) {
      return row.next();
    }
  }
}
