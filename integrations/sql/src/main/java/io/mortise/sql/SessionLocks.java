package io.mortise.sql;

import io.mortise.LockName;
import io.mortise.UnsupportedByStoreException;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.internal.runtime.DaemonThreads;
import io.mortise.spi.time.DurationText;
import io.mortise.spi.time.Ticker;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Locks that live in a connection: PostgreSQL's advisory locks, and {@code GET_LOCK} of MySQL and
 * MariaDB. Cheap, as nothing is written; for a few locks where duplicate work is wasteful but
 * harmless.
 *
 * <p><b>Limits.</b> There is no fencing token: the database keeps no count of grants, so no
 * resource can refuse a stale holder, and {@link SessionLease} has no method for one. The lock
 * exists only in the memory of one server. It vanishes with the connection, and when the server
 * restarts or fails over. Another client may hold it at that moment, while this process learns of
 * the loss up to two checks later. Correctness needs a {@link io.mortise.LockClient} with a guard,
 * or {@link TransactionLocks}.
 *
 * <p>Begin guarded transactions after the grant: one that read before may go on seeing older data.
 * Commit them before the release.
 *
 * <p>Each held lock, and each wait for one, takes a connection of its own from the data source. A
 * check, every 5 s by default, asks whether the server still has the lock. If it does not, or does
 * not answer for as long again, the lease is lost and the connection is cut. That also keeps idle
 * connections alive. A host that vanishes silently keeps its locks until the server's TCP
 * keep-alive gives up, two hours by default: set {@code tcp_keepalives_idle}, or {@code
 * wait_timeout} above the check.
 *
 * <p>Do not use a pooler that changes the server connection between transactions (PgBouncer in
 * transaction mode): the check finds the lock lost, but too late.
 *
 * <p>Names are hashed. On PostgreSQL to the 64 bits that it has: two names that share a hash, one
 * pair in 2<sup>64</sup>, or other users of advisory locks with the same number, exclude each other
 * without need; the reverse never happens. On MySQL and MariaDB to 224 bits, as names there are
 * short and ignore case.
 *
 * <p>Thread-safe. Not re-entrant: a thread that acquires a lock that it holds waits like any other.
 */
public final class SessionLocks implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(SessionLocks.class);
  private static final Duration CHECK = Duration.ofSeconds(5);
  private static final Duration IDLE_THREADS = Duration.ofSeconds(5);

  private final DataSource dataSource;
  private final Duration check;
  private final Ticker ticker;
  private final Set<SessionLease> leases = ConcurrentHashMap.newKeySet();
  private final ScheduledExecutorService timer;
  private final ScheduledFuture<?> checks;
  private final Executor threads;
  private final AtomicBoolean closed = new AtomicBoolean();

  private SessionLocks(DataSource dataSource, Duration check, Ticker ticker) {
    this.dataSource = dataSource;
    this.check = check;
    this.ticker = ticker;
    ThreadFactory daemons = DaemonThreads.named("mortise-session-locks");
    this.timer = Executors.newSingleThreadScheduledExecutor(daemons);
    // Not shut down: handling of a loss goes on after close(), and idle threads end by themselves.
    this.threads =
        new ThreadPoolExecutor(
            0,
            Integer.MAX_VALUE,
            IDLE_THREADS.toSeconds(),
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            daemons);
    this.checks =
        timer.scheduleWithFixedDelay(
            this::checkAll, check.toNanos(), check.toNanos(), TimeUnit.NANOSECONDS);
  }

  private void checkAll() {
    for (SessionLease lease : leases) {
      try {
        lease.check();
      } catch (RuntimeException | OutOfMemoryError e) {
        // Perhaps no thread could be started. An exception here would cancel the timer, and all
        // later checks.
        log.warn("Session lock '{}' could not be checked this time.", LockName.of(lease.name()), e);
      }
    }
  }

  /** Locks in connections of this data source, checked every 5 s. */
  public static SessionLocks over(DataSource dataSource) {
    return over(dataSource, CHECK);
  }

  /**
   * Locks in connections of this data source.
   *
   * @param check the interval of checks, and how long an answer may take
   * @throws IllegalArgumentException if it is not within 100 ms and 10 min
   */
  public static SessionLocks over(DataSource dataSource, Duration check) {
    if (check.toMillis() < 100 || check.toMinutes() > 10) {
      throw new IllegalArgumentException(
          "The time %s between two checks is not within 100ms and 10m."
              .formatted(DurationText.formatExact(check)));
    }
    return new SessionLocks(dataSource, check, Ticker.SYSTEM);
  }

  /**
   * Tries once, without waiting for another holder. Blocks until there is a connection, and for a
   * round trip or a few; for two checks at most.
   *
   * @return empty if another client holds it
   * @throws IllegalArgumentException if it is no lock name
   * @throws IllegalStateException if this was closed
   * @throws UnsupportedByStoreException if the database has no session locks (H2, SQLite)
   * @throws SQLException if there is no connection in time, or the database fails; nothing is held
   *     then
   */
  public Optional<SessionLease> tryAcquire(String name) throws SQLException {
    return tryAcquire(name, Duration.ZERO);
  }

  /**
   * Waits for the lock at most that long; MySQL and MariaDB count whole seconds, rounded up.
   * Blocks, and cannot be interrupted. If the server does not answer, the wait ends two checks
   * later. The order of several waiters is undefined.
   *
   * @return empty if the time is over
   * @throws IllegalArgumentException if it is no lock name, or the time is negative or above a day
   * @throws IllegalStateException if this was closed
   * @throws UnsupportedByStoreException if the database has no session locks (H2, SQLite)
   * @throws SQLException if there is no connection in time, or the database fails; nothing is held
   *     then
   */
  public Optional<SessionLease> tryAcquire(String name, Duration wait) throws SQLException {
    LockName lock = LockName.of(name);
    if (wait.isNegative() || wait.toDays() > 0) {
      throw new IllegalArgumentException(
          "The wait " + DurationText.format(wait) + " is not within 0s and 1d.");
    }
    if (closed.get()) {
      throw new IllegalStateException("The session locks were closed.");
    }
    long deadline = ticker.nanos() + wait.toNanos();
    SessionConnection session = connect(lock, deadline + check.toNanos());
    try {
      if (!session.acquire(deadline)) {
        session.giveBack();
        return Optional.empty();
      }
    } catch (SQLException | RuntimeException e) {
      // The lock may have been granted: it must not go back to the pool with the connection.
      session.cut();
      throw e;
    }
    SessionLease lease = new SessionLease(name, session, check, ticker, threads, leases::remove);
    leases.add(lease);
    if (closed.get()) {
      lease.close();
      throw new IllegalStateException("The session locks were closed.");
    }
    return Optional.of(lease);
  }

  /**
   * On a thread of its own: on this one, it might be the connection of the caller's transaction.
   */
  private SessionConnection connect(LockName lock, long deadline) throws SQLException {
    CompletableFuture<SessionConnection> connecting =
        CompletionStages.detached(
            "mortise-session-connect",
            () -> {
              Connection connection = dataSource.getConnection();
              try {
                return SessionConnection.over(connection, lock, check, ticker);
              } catch (SQLException | RuntimeException e) {
                connection.close();
                throw e;
              }
            });
    if (!isDone(connecting, deadline)) {
      var unused = connecting.thenAccept(SessionConnection::giveBackQuietly);
      throw new SQLTransientConnectionException(
          "The data source gave no connection for the session lock '%s' within its wait and %s."
              .formatted(lock, DurationText.format(check)),
          "08001");
    }
    return CompletionStages.<SessionConnection, SQLException>join(connecting);
  }

  private boolean isDone(CompletableFuture<?> connecting, long deadline) {
    boolean interrupted = false;
    while (!connecting.isDone() && deadline - ticker.nanos() > 0) {
      try {
        connecting.get(deadline - ticker.nanos(), TimeUnit.NANOSECONDS);
      } catch (InterruptedException e) {
        interrupted = true;
      } catch (ExecutionException | TimeoutException e) {
        break;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return connecting.isDone();
  }

  /** Releases all locks. Blocks as {@link SessionLease#close()} does for each. */
  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    checks.cancel(false);
    timer.shutdown();
    RuntimeException first = null;
    for (SessionLease lease : List.copyOf(leases)) {
      try {
        lease.close();
      } catch (RuntimeException e) {
        if (first == null) {
          first = e;
        } else {
          first.addSuppressed(e);
        }
      }
    }
    if (first != null) {
      throw first;
    }
  }
}
