package io.mortise.jdbc.document;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.internal.runtime.DaemonThreads;
import io.mortise.jdbc.batch.BackOff;
import io.mortise.jdbc.batch.ConnectionMaker;
import io.mortise.spi.time.DurationText;
import io.mortise.spi.time.Ticker;
import io.mortise.support.internal.server.SocketKeepAlive;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Steps on connections of a few, by threads of their own: callers never wait, and the threads are
 * never interrupted, which would close the file of an embedded database. Further steps wait for
 * their turn.
 *
 * <p><b>Bounds.</b> Each step is answered within the store's timeout, its turn included. One that
 * has not begun by then is never begun; the connection of one that has is cut.
 *
 * <p><b>Failures.</b> A step that the database rolled back because of others is taken again, with
 * jittered pauses, within half of the timeout. So is a read whose connection had rested and is
 * broken, as after a restart of the server. Any other failure is told. A broken connection takes
 * along those that rest: they lead to the same server.
 *
 * <p>Thread-safe.
 */
final class DocumentConnections implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(DocumentConnections.class);

  /** A connection that was not used for so long is closed, unless it is the last one. */
  private static final Duration RESTS = Duration.ofMinutes(1);

  private final DocumentDatabase database;
  private final Ticker ticker;
  private final ThreadPoolExecutor threads;
  private final ConnectionMaker<DocumentConnection> connectionMaker;

  /** The last used first. */
  private final ConcurrentLinkedDeque<DocumentConnection> resting = new ConcurrentLinkedDeque<>();

  private volatile boolean closed;

  /**
   * Connects to nothing yet.
   *
   * @param most steps at a time
   */
  DocumentConnections(DocumentDatabase database, String purpose, int most, Ticker ticker) {
    this.database = database;
    this.ticker = ticker;
    this.connectionMaker =
        new ConnectionMaker<>(
            database::connect, database.timeout(), DocumentConnection::giveBack, ticker);
    this.threads =
        new ThreadPoolExecutor(
            most,
            most,
            10,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            DaemonThreads.named("mortise-" + database.display() + "-" + purpose));
    threads.allowCoreThreadTimeOut(true);
  }

  /** Work on a connection; may be repeated after a roll-back. */
  @FunctionalInterface
  interface DocumentStep<T> {
    T on(DocumentTable table) throws SQLException;
  }

  /** Takes a step that writes. Does not block. */
  <T> CompletionStage<T> write(DocumentStep<T> step) {
    return submit(new RunningStep<>(step, false, ticker.nanos()));
  }

  /** Takes a step that may be taken again. Does not block. */
  <T> CompletionStage<T> read(DocumentStep<T> step) {
    return submit(new RunningStep<>(step, true, ticker.nanos()));
  }

  private <T> CompletionStage<T> submit(RunningStep<T> running) {
    try {
      threads.execute(running);
    } catch (RejectedExecutionException e) {
      return CompletableFuture.failedFuture(closedStore());
    }
    running.answer.orTimeout(database.timeout().toNanos(), TimeUnit.NANOSECONDS);
    return running.answer.handle(running::told);
  }

  private StoreUnavailableException closedStore() {
    return new StoreUnavailableException("The store is closed (store=" + database.display() + ").");
  }

  private final class RunningStep<T> implements Runnable {
    private final CompletableFuture<T> answer = new CompletableFuture<>();
    private final DocumentStep<T> step;
    private final boolean isRead;
    private final long since;
    private boolean hasRested;

    /** Taken by the thread that is done with it, or by the one that cuts it. */
    private final AtomicReference<@Nullable DocumentConnection> used = new AtomicReference<>();

    private RunningStep(DocumentStep<T> step, boolean isRead, long since) {
      this.step = step;
      this.isRead = isRead;
      this.since = since;
    }

    private T told(@Nullable T value, @Nullable Throwable failure) {
      if (failure == null && value != null) {
        return value;
      }
      Throwable cause = CompletionStages.cause(failure);
      DocumentConnection slow = used.getAndSet(null);
      if (slow != null) {
        // An abort may block.
        var unused = CompletionStages.detached("mortise-abort", Executors.callable(slow::abort));
      }
      throw cause instanceof RuntimeException known
          ? known
          : new StoreUnavailableException(
              "The database did not answer within %s (store=%s)."
                  .formatted(DurationText.format(database.timeout()), database.display()),
              cause);
    }

    @Override
    public void run() {
      for (int tries = 0; !answer.isDone(); tries++) {
        try {
          T value = attempt();
          answer.complete(value);
          return;
        } catch (SQLException e) {
          SqlFailure failure = SqlFailure.of(e);
          log.debug("A step on {} failed: {}", database.display(), failure, e);
          boolean late = ticker.nanos() - since > database.timeout().toNanos() / 2;
          if (failure == SqlFailure.BUSY && !late && !closed) {
            BackOff.pause(tries);
          } else if (failure != SqlFailure.BROKEN || !isRead || !hasRested || late || closed) {
            answer.completeExceptionally(failure.translated(e, database.display()));
            return;
          }
        } catch (RuntimeException | Error e) {
          answer.completeExceptionally(e);
          return;
        }
      }
    }

    private T attempt() throws SQLException {
      DocumentConnection rested = takeRested();
      hasRested = rested != null;
      DocumentConnection connection = rested != null ? rested : connect(since);
      used.set(connection);
      if (answer.isDone() && used.compareAndSet(connection, null)) {
        // Nobody would cut it.
        rest(connection);
        throw new SQLTransientConnectionException("The request was given up", "08001");
      }
      boolean isUsable = false;
      try {
        T value = step.on(connection.table());
        isUsable = true;
        return value;
      } catch (SQLException e) {
        isUsable = SqlFailure.of(e).leavesConnection() && connection.rollBack();
        throw e;
      } finally {
        // Else it was cut meanwhile.
        boolean isOwn = used.compareAndSet(connection, null);
        if (isUsable && isOwn) {
          rest(connection);
        } else {
          connection.close();
          dropResting();
        }
      }
    }
  }

  private @Nullable DocumentConnection takeRested() {
    while (true) {
      DocumentConnection rested = resting.pollFirst();
      if (rested == null) {
        return null;
      }
      boolean isChecked =
          ticker.nanos() - rested.usedAt() < SocketKeepAlive.UNCHECKED.toNanos()
              || rested.isAlive();
      if (isChecked) {
        return rested;
      }
      rested.close();
      dropResting();
    }
  }

  private DocumentConnection connect(long since) throws SQLException {
    if (closed) {
      throw closedStore();
    }
    try {
      return connectionMaker.connect(
          database.timeout().minusNanos(Math.max(0, ticker.nanos() - since)));
    } catch (StoreUnfitException e) {
      throw e;
    } catch (RuntimeException e) {
      throw new SQLException(e);
    }
  }

  /** Keeps a connection for the next step. */
  void rest(DocumentConnection connection) {
    connection.usedAt(ticker.nanos());
    resting.addFirst(connection);
    if (closed) {
      endResting(DocumentConnection::giveBack);
      return;
    }
    DocumentConnection last = resting.peekLast();
    if (last != null
        && last != connection
        && ticker.nanos() - last.usedAt() > RESTS.toNanos()
        && resting.remove(last)) {
      last.giveBack();
    }
  }

  /** They lead to a server that does not answer, or not any more. */
  private void dropResting() {
    endResting(DocumentConnection::close);
  }

  private void endResting(Consumer<DocumentConnection> end) {
    DocumentConnection next;
    while ((next = resting.pollFirst()) != null) {
      end.accept(next);
    }
  }

  /** Refuses further steps, and waits for those in progress, for the store's timeout at most. */
  @Override
  public void close() {
    closed = true;
    threads.shutdown();
    try {
      if (!threads.awaitTermination(database.timeout().toNanos(), TimeUnit.NANOSECONDS)) {
        log.warn("Store '{}' did not finish its last request in time", database.display());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    connectionMaker.close();
    endResting(DocumentConnection::giveBack);
  }
}
