package io.mortise.jdbc.batch;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.jdbc.table.Database;
import io.mortise.jdbc.table.Database.ErrorKind;
import io.mortise.jdbc.table.LockRepository;
import io.mortise.jdbc.table.StoreConnection;
import io.mortise.spi.Request;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.time.Ticker;
import io.mortise.support.internal.server.SocketKeepAlive;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connection of a {@link ConnectionExecutor}, and one try at a transaction on it. It is made
 * when it is needed, and dropped when it broke or has rested for long. Used by the leader only.
 */
final class TransactionRunner {
  private static final Logger log = LoggerFactory.getLogger(TransactionRunner.class);

  /** A request that may take less than this connects anew instead of asking for up to a second. */
  private static final Duration TIME_TO_ASK = Duration.ofSeconds(3);

  /** Longer than a connect takes to fail by itself. */
  private static final Duration HUNG = Duration.ofMinutes(3);

  /** So often a connection is replaced whose user lacks a right. */
  private static final Duration BETWEEN_REPLACEMENTS = Duration.ofSeconds(1);

  /** So long another executor does without a connection, unless this one has one again. */
  private static final long LACK_NANOS = Duration.ofSeconds(10).toNanos();

  private final Database database;
  private final Ticker ticker;
  private final ReentrantLock transactionLock;
  private final ConnectionMaker<StoreConnection> connectionMaker;
  private @Nullable StoreConnection storeConnection;
  private long lastUsed;
  private long madeAt;

  /** How often the store had met a server that takes no writes when the connection was made. */
  private int madeAfter;

  /** Whether the last failure was for want of a right, on a connection that was not a new one. */
  private boolean wasDenied;

  private boolean connects = true;

  /** When the server had no connection left for this executor, or 0. */
  private volatile long lackedAt;

  /** Whether an executor that comes first has no connection. */
  private volatile BooleanSupplier yields = () -> false;

  private volatile Runnable onLack = () -> {};

  /** The action in progress; null while there is none. */
  private volatile @Nullable RunningAction running;

  private volatile boolean ended;

  /** Whether what was sent may be committed, as long as nothing else is known. */
  private boolean mayBeCommitted;

  /**
   * @param transactionLock held while a transaction runs
   */
  TransactionRunner(Database database, Ticker ticker, ReentrantLock transactionLock) {
    this.database = database;
    this.ticker = ticker;
    this.transactionLock = transactionLock;
    this.connectionMaker =
        new ConnectionMaker<>(database::connect, HUNG, TransactionRunner::giveBack, ticker);
    if (!database.callerRuns()) {
      watch();
    }
  }

  /** Something that is done on a connection, since a local time. */
  private record RunningAction(StoreConnection on, long since, AtomicBoolean aborted) {
    RunningAction(StoreConnection on, long since) {
      this(on, since, new AtomicBoolean());
    }
  }

  /**
   * Cuts a connection on which something takes longer than a request may, until the end. A driver
   * bounds each read only, and a server may send a byte now and then. An application may occupy the
   * common pool, and an abort may block: MariaDB's driver connects for it. So the clock's own
   * thread looks, and each abort has a thread to itself. An action is aborted once: an abort that
   * blocks would else add a thread at each tick.
   */
  private void watch() {
    long most = database.profile().maxInFlight().toNanos();
    CompletableFuture.delayedExecutor(most / 8, TimeUnit.NANOSECONDS, Runnable::run)
        .execute(
            () -> {
              if (!ended) {
                watch();
              }
              RunningAction now = running;
              if (now != null
                  && ticker.nanos() - now.since() > most / 4 * 3
                  && now.aborted().compareAndSet(false, true)) {
                var unused =
                    CompletionStages.detached("mortise-abort", Executors.callable(now.on()::abort));
              }
            });
  }

  /** Nothing is done any more. */
  void end() {
    detach();
    connectionMaker.close();
    ended = true;
  }

  /** Work in one transaction, or by one statement. */
  @FunctionalInterface
  interface ConnectionAction {
    void on(StoreConnection current) throws SQLException;
  }

  /**
   * Whether it makes a connection where there is none; else that is as if somebody was in the way.
   */
  void connects(boolean whether) {
    connects = whether;
  }

  /** Gives its connection up, and makes none, while that is true. */
  void yieldsWhile(BooleanSupplier lacks) {
    yields = lacks;
  }

  /** Is called when the server has no connection left for this one. */
  void onLack(Runnable listener) {
    onLack = listener;
  }

  /** Whether the server had no connection left at the last try, a moment ago. */
  boolean lacksConnection() {
    long at = lackedAt;
    return at != 0 && ticker.nanos() - at < LACK_NANOS;
  }

  boolean isConnected() {
    return storeConnection != null;
  }

  /** Whether it is connected, and that connection takes several statements in one text. */
  boolean takesSeveral() {
    return storeConnection != null && storeConnection.repository.takesSeveral();
  }

  /** Whether it is connected, and will not connect anew. */
  boolean isFresh() {
    return storeConnection != null && !isStale() && !hasRested(ticker.nanos());
  }

  /** The notifications of the transaction that has just committed. */
  List<SessionNotification> takeNotifications() {
    return storeConnection == null ? List.of() : storeConnection.takeNotifications();
  }

  /** Does all of it in one transaction; null if that is committed. */
  @Nullable TransactionFailure attempt(List<StoreTask> tasks) {
    return attempt(current -> transact(current, tasks), false);
  }

  /**
   * Does requests on one lock, in order, in one transaction that reads the lock once; null if that
   * is committed.
   */
  @Nullable TransactionFailure attemptOnLock(List<StoreTask> tasks) {
    List<Request> requests =
        tasks.stream().map(task -> Objects.requireNonNull(task.request())).toList();
    return attempt(
        current -> {
          current.begin(LockRepository.PrefetchTarget.of(requests));
          for (StoreTask task : tasks) {
            task.run(current);
          }
          mayBeCommitted = true;
          current.commit();
        },
        false);
  }

  /** Does something that commits by itself; null if it did. */
  @Nullable TransactionFailure attemptStatement(ConnectionAction statement) {
    return attempt(statement, true);
  }

  /** Reads something; null if it did. */
  @Nullable TransactionFailure attemptRead(ConnectionAction read) {
    return attempt(read, false);
  }

  /**
   * Does something once; once more on a new connection if the one that was there turned out to be
   * of no use at once, as after a restart of the server or a silence that a firewall has ended.
   *
   * <p>The first try may have been executed before the connection broke. Doing it twice changes
   * nothing: a request carries the id of its attempt, by which the store gives the same answer
   * again, and a renewal that has been made before is answered as made.
   */
  private @Nullable TransactionFailure attempt(ConnectionAction doing, boolean commitsByItself) {
    mayBeCommitted = commitsByItself;
    StoreConnection before = storeConnection;
    long began = ticker.nanos();
    TransactionFailure first = attemptOnce(doing);
    if (first == null
        || (first.errorKind() != ErrorKind.BROKEN && !wasDenied)
        || before == null
        || database.callerRuns()
        || ticker.nanos() - began > database.retryTimeout().dividedBy(2).toNanos()) {
      return first;
    }
    log.debug("Once more on a new connection to {}", database.profile().display());
    mayBeCommitted = commitsByItself;
    TransactionFailure second = attemptOnce(doing);
    return second == null || !first.mayHaveRun() ? second : second.inDoubt();
  }

  private @Nullable TransactionFailure attemptOnce(ConnectionAction doing) {
    boolean connected = false;
    wasDenied = false;
    transactionLock.lock();
    try {
      long now = ticker.nanos();
      if (isStale() && database.borrows()) {
        detach();
      } else if (isStale() || madeAfter != database.demotions() || isForgotten(now)) {
        drop();
      }
      lastUsed = now;
      if (yields.getAsBoolean()) {
        detach();
        throw new SQLTransientConnectionException(
            "No connection is left beside the one for renewals", "08001");
      }
      StoreConnection current = storeConnection;
      if (current == null && !connects) {
        return new TransactionFailure(ErrorKind.BUSY, false, notConnected());
      } else if (current == null) {
        madeAfter = database.demotions();
        current = connect();
        storeConnection = current;
        madeAt = ticker.nanos();
        lackedAt = 0;
      }
      connected = true;
      if (database.isReplaced()) {
        throw replaced();
      }
      running = new RunningAction(current, ticker.nanos());
      doing.on(current);
      return null;
    } catch (SQLException e) {
      if (!connected && database.isFull(e)) {
        lackedAt = ticker.nanos() | 1;
        onLack.run();
      }
      return failure(e, mayBeCommitted && connected);
    } catch (StoreUnfitException e) {
      return TransactionFailure.of(e);
    } catch (RuntimeException e) {
      rollBack();
      return new TransactionFailure(ErrorKind.UNFIT, mayBeCommitted && connected, e);
    } catch (Error e) {
      // Of a driver, perhaps, which may have left half of an answer unread.
      drop();
      return TransactionFailure.of(e, database, mayBeCommitted && connected);
    } finally {
      running = null;
      transactionLock.unlock();
    }
  }

  /** Blocks; if a data source is asked, for half of the time that a request may take. */
  private StoreConnection connect() throws SQLException {
    return database.borrows() && !database.callerRuns()
        ? connectionMaker.connect(database.profile().maxInFlight().dividedBy(2))
        : database.connect();
  }

  private static void giveBack(StoreConnection late) {
    try (late) {
      late.detach();
    } catch (SQLException e) {
      log.debug("A connection that came too late was broken when it was given back.", e);
    }
  }

  private RuntimeException notConnected() {
    return new StoreUnavailableException(
        "Store '" + database.profile().display() + "' is not connected.");
  }

  private StoreUnfitException replaced() {
    return new StoreUnfitException(
        "The file of store '"
            + database.profile().display()
            + "', or its log, was moved, replaced or removed while in use. Who opens it now does not see "
            + "the locks of this process. End all processes that use it, and start them again.");
  }

  private boolean isStale() {
    return ticker.nanos() - lastUsed > database.idleLimit().toNanos();
  }

  /** Whether a firewall may have forgotten a server's connection: a request is lost in silence. */
  private boolean hasRested(long now) {
    return !database.callerRuns() && now - lastUsed > SocketKeepAlive.UNCHECKED.toNanos();
  }

  /** Asks a connection that has rested, unless that may take most of a request's time. */
  private boolean isForgotten(long now) {
    StoreConnection current = storeConnection;
    return current != null
        && hasRested(now)
        && (database.profile().maxInFlight().compareTo(TIME_TO_ASK) < 0 || !current.isAlive());
  }

  private void transact(StoreConnection current, List<StoreTask> tasks) throws SQLException {
    if (tasks.size() == 1) {
      // A single statement commits by itself.
      mayBeCommitted = true;
      if (tasks.get(0).fast(current)) {
        return;
      }
      mayBeCommitted = false;
      current.begin(tasks.get(0).expected());
      tasks.get(0).run(current);
    } else {
      current.begin(null);
      for (StoreTask task : tasks) {
        if (!task.fast(current)) {
          task.run(current);
        }
      }
    }
    mayBeCommitted = true;
    current.commit();
  }

  private TransactionFailure failure(SQLException e, boolean sent) {
    TransactionFailure transactionFailure = TransactionFailure.of(e, database, sent);
    log.debug(
        "Transaction on {} failed: {} ({})",
        database.profile().display(),
        transactionFailure.errorKind(),
        e.getMessage());
    rollBack();
    wasDenied =
        database.borrows()
            && transactionFailure.errorKind() == ErrorKind.UNFIT
            && database.isDenied(e)
            && ticker.nanos() - madeAt > BETWEEN_REPLACEMENTS.toNanos();
    if (database.errorKind(e) == ErrorKind.READ_ONLY) {
      database.demoted();
    }
    if (transactionFailure.errorKind() == ErrorKind.BROKEN || wasDenied) {
      drop();
    } else if (transactionFailure.errorKind() == ErrorKind.FULL) {
      makeRoom();
    }
    return transactionFailure;
  }

  private void makeRoom() {
    tried("making room", current -> current.makeRoom(database));
  }

  private void rollBack() {
    if (!tried("a roll-back", StoreConnection::rollback)) {
      drop();
    }
  }

  private void drop() {
    tried("closing a connection", StoreConnection::close);
    storeConnection = null;
  }

  /** Gives the connection back, as it was where that matters. */
  void detach() {
    tried("undoing the settings of a connection", StoreConnection::detach);
    drop();
  }

  /** Does something to the connection, if there is one; false if that fails, which is logged. */
  private boolean tried(String what, ConnectionAction doing) {
    StoreConnection current = storeConnection;
    if (current != null) {
      try {
        doing.on(current);
      } catch (SQLException | RuntimeException | Error e) {
        log.debug("On {}, {} failed", database.profile().display(), what, e);
        return false;
      }
    }
    return true;
  }
}
