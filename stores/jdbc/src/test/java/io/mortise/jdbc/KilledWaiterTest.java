package io.mortise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.admin.LockParticipant;
import io.mortise.jdbc.table.ConnectionLockProbe;
import io.mortise.jdbc.table.Database;
import io.mortise.spi.AttemptId;
import io.mortise.spi.SessionId;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.RerunIfPaused;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Processes that are killed (SIGKILL) or stopped (SIGSTOP) while they wait: a lock that is released
 * is with the next live waiter soon, and not only when their TTL is over.
 */
@Tag("extended")
class KilledWaiterTest {
  private static final Duration TTL = Duration.ofSeconds(15);
  private static final Duration BOUND = BoundedWait.scaled(Duration.ofSeconds(2));
  private static final Duration LONG = Duration.ofSeconds(40);
  private static final int ROUNDS = Integer.getInteger("mortise.killed.rounds", 3);
  private static final int CROWD = 11;

  /** Of the session of a process that waits and holds nothing. */
  private static final Duration WAITING = Duration.ofSeconds(3);

  /** Well below the TTL. */
  private static final Duration SOON = Duration.ofSeconds(10);

  @TempDir Path directory;

  enum Database {
    POSTGRESQL,
    MYSQL,
    MARIADB,
    SQLITE;

    String url(Path directory) {
      String own = "&namespace=" + PostgresServers.namespace();
      return switch (this) {
        case POSTGRESQL -> PostgresServers.V18.shared().url() + own;
        case MYSQL -> MySqlServers.MYSQL.url() + own;
        case MARIADB -> MySqlServers.MARIADB.url() + own;
        case SQLITE -> "jdbc:sqlite:" + directory.resolve("locks.db");
      };
    }
  }

  @ParameterizedTest
  @EnumSource
  @RerunIfPaused
  void givenHeadOfTheQueueKilled_whenTheHolderReleases_thenTheNextLiveWaiterHoldsAtOnce(
      Database database) throws Exception {
    long[] took = new long[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
      took[round] = afterKill(database, 1);
    }
    Arrays.sort(took);
    System.out.printf(
        "%s: the next waiter holds %.1f ms after the release (median of %d, worst %.1f)%n",
        database, took[ROUNDS / 2] / 1e6, ROUNDS, took[ROUNDS - 1] / 1e6);
  }

  @ParameterizedTest
  @EnumSource
  @RerunIfPaused
  void givenHeadKilledWithTenDeadBehindIt_whenTheHolderReleases_thenTheNextLiveWaiterHoldsAtOnce(
      Database database) throws Exception {
    System.out.printf(
        "%s: %.1f ms with %d dead%n", database, afterKill(database, CROWD) / 1e6, CROWD);
  }

  @Test
  void givenHeadOfTheQueueStopped_whenTheHolderReleases_thenTheNextHoldsLongBeforeTheTtl()
      throws Exception {
    String url = Database.POSTGRESQL.url(directory);
    try (LockClient holder = client(url);
        LockClient waiter = client(url);
        LockProcess head = LockProcess.start("crowd", url, TTL, "1")) {
      Lease held = holder.lock("echo").acquireWithin(LONG);
      SessionId stopped = AttemptId.parse(awaitWaiters(holder, 1).get(0).attempt()).session();
      CompletableFuture<Long> granted = CompletableFuture.supplyAsync(() -> grantedAt(waiter));
      awaitWaiters(holder, 2);
      awaitShortSession(url, stopped);
      head.pause();
      long released = System.nanoTime();

      held.close();

      long took = granted.get(LONG.toSeconds(), TimeUnit.SECONDS) - released;
      assertThat(Duration.ofNanos(took)).isLessThan(SOON);
    }
  }

  @Test
  void givenWaiterOnSqlite_thenItsProcessIsKnownToLiveBeforeOthersSeeItInTheQueue()
      throws Exception {
    String url = Database.SQLITE.url(directory);
    try (LockClient holder = client(url);
        LockClient waiter = client(url);
        Lease held = holder.lock("echo").acquireWithin(LONG)) {
      assertThat(waiter.lock("echo").tryAcquire()).as("opens a session").isEmpty();
      assertThat(liveProcesses()).isEqualTo(1);
      try (Connection writer = DriverManager.getConnection(url);
          Statement statement = writer.createStatement()) {
        statement.execute("BEGIN IMMEDIATE");
        var waits = waiter.lock("echo").acquireAsync();
        Awaitility.await().atMost(SOON).until(() -> liveProcesses() == 2);
        assertThat(waits).isNotDone();
        waits.cancel(false);
        statement.execute("ROLLBACK");
      }
      assertThat(held.isValid()).isTrue();
    }
  }

  private long liveProcesses() throws IOException {
    try (Stream<Path> files = Files.walk(directory.resolve("locks.db.bells"))) {
      return files.filter(file -> file.endsWith("alive")).count();
    }
  }

  /** Waits until a session was renewed as that of a process that only waits. */
  private static void awaitShortSession(String url, SessionId session) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url);
        PreparedStatement look =
            connection.prepareStatement("SELECT ttl_us FROM mortise_session WHERE id = ?")) {
      look.setString(1, session.value());
      Awaitility.await()
          .atMost(LONG)
          .until(
              () -> {
                try (ResultSet row = look.executeQuery()) {
                  return row.next() && row.getLong(1) / 1_000 <= WAITING.toMillis();
                }
              });
    }
  }

  /** Nanoseconds from a release to the grant of a live waiter, with so many dead ahead of it. */
  private long afterKill(Database database, int dead) throws Exception {
    String url = database.url(directory);
    try (LockClient holder = client(url);
        LockClient waiter = client(url)) {
      Lease held = holder.lock("echo").acquireWithin(LONG);
      CompletableFuture<Long> granted;
      try (LockProcess child = LockProcess.start("crowd", url, TTL, Integer.toString(dead))) {
        List<LockParticipant> waiting = awaitWaiters(holder, dead);
        granted = CompletableFuture.supplyAsync(() -> grantedAt(waiter));
        awaitWaiters(holder, dead + 1);
        child.kill();
        if (database != Database.SQLITE) {
          waiting.forEach(
              party ->
                  ConnectionLockProbe.await(
                      url, AttemptId.parse(party.attempt()).session(), false));
        }
      }
      long released = System.nanoTime();
      held.close();
      long took = granted.get(LONG.toSeconds(), TimeUnit.SECONDS) - released;
      assertThat(Duration.ofNanos(took)).isLessThan(BOUND);
      return took;
    }
  }

  private static LockClient client(String url) {
    return LockClient.builder().url(url).ttl(TTL).build();
  }

  private static List<LockParticipant> awaitWaiters(LockClient locks, int count) {
    return Awaitility.await()
        .atMost(LONG)
        .pollInterval(Duration.ofMillis(10))
        .until(
            () -> locks.admin().find("echo").orElseThrow().waiters(), all -> all.size() == count);
  }

  private static long grantedAt(LockClient waiter) {
    try (Lease lease = waiter.lock("echo").acquireWithin(LONG)) {
      long now = System.nanoTime();
      lease.ensureValid();
      return now;
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
