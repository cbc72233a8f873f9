package io.mortise.jdbc.batch;

import io.mortise.internal.runtime.CompletionStages;
import io.mortise.spi.time.DurationText;
import io.mortise.spi.time.Ticker;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Connects on threads of its own, which may be kept for long: a driver or a data source may have no
 * time limit, and wait for ever for a server that has stood still once. A connection that comes too
 * late goes to the next caller. Thread-safe.
 *
 * @param <C> a connection that is set up
 */
public final class ConnectionMaker<C> {
  private static final String THREAD = "mortise-jdbc-connect";

  /** A connection that came too late is kept for so long: its pool may miss it. */
  private static final Duration KEPT = Duration.ofSeconds(15);

  private final Callable<C> source;
  private final Duration hung;
  private final Consumer<C> giveBack;
  private final Ticker ticker;

  /** Connects that no caller waits for, oldest first. */
  private final ConcurrentLinkedQueue<PendingConnect<C>> pending = new ConcurrentLinkedQueue<>();

  /** Connects that were given up and have not ended. */
  private final AtomicInteger abandoned = new AtomicInteger();

  private volatile boolean closed;

  /**
   * @param hung age at which a connect counts as hung, and another is tried; the more are hung, the
   *     longer
   * @param giveBack returns a connection that is not needed
   */
  public ConnectionMaker(Callable<C> source, Duration hung, Consumer<C> giveBack, Ticker ticker) {
    this.source = source;
    this.hung = hung;
    this.giveBack = giveBack;
    this.ticker = ticker;
  }

  /** A connect, which belongs to one caller or to {@link #pending}. */
  private record PendingConnect<C>(CompletableFuture<C> connection, long since) {}

  /**
   * Blocks, until the time is over at the latest.
   *
   * @throws SQLTransientConnectionException if there is no connection by then
   * @throws SQLException or an unchecked exception, as the source throws it
   */
  public C connect(Duration within) throws SQLException {
    PendingConnect<C> own = takePending();
    if (own == null) {
      own = new PendingConnect<>(CompletionStages.detached(THREAD, source), ticker.nanos());
    }
    try {
      return own.connection.get(Math.max(0, within.toNanos()), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      keep(own);
      throw none("within " + DurationText.format(within), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      keep(own);
      throw none("before the thread was interrupted", e);
    } catch (ExecutionException e) {
      Throwable cause = CompletionStages.cause(e.getCause());
      if (cause instanceof SQLException failure) {
        throw failure;
      } else if (cause instanceof RuntimeException failure) {
        throw failure;
      } else if (cause instanceof Error failure) {
        throw failure;
      }
      throw new SQLException(cause);
    }
  }

  private @Nullable PendingConnect<C> takePending() {
    PendingConnect<C> next;
    while ((next = pending.poll()) != null) {
      boolean isUsable =
          next.connection.isDone()
              ? !next.connection.isCompletedExceptionally()
              : ticker.nanos() - next.since <= hung.toNanos() * (1 + abandoned.get());
      if (isUsable) {
        return next;
      }
      abandon(next);
    }
    return null;
  }

  private void keep(PendingConnect<C> late) {
    pending.add(late);
    var unused =
        late.connection.whenComplete(
            (made, failure) ->
                CompletableFuture.delayedExecutor(
                        KEPT.toNanos(), TimeUnit.NANOSECONDS, CompletionStages.detaching(THREAD))
                    .execute(() -> abandonPending(late)));
    if (closed) {
      abandonPending(late);
    }
  }

  private void abandonPending(PendingConnect<C> late) {
    if (pending.remove(late)) {
      abandon(late);
    }
  }

  private void abandon(PendingConnect<C> given) {
    abandoned.incrementAndGet();
    var unused =
        given.connection.whenComplete(
            (made, failure) -> {
              abandoned.decrementAndGet();
              if (made != null) {
                giveBack.accept(made);
              }
            });
  }

  private static SQLTransientConnectionException none(String when, Exception cause) {
    return new SQLTransientConnectionException(
        "The driver or data source gave no connection " + when, "08001", cause);
  }

  /** Gives back connections that arrive later. */
  public void close() {
    closed = true;
    PendingConnect<C> next;
    while ((next = pending.poll()) != null) {
      abandon(next);
    }
  }
}
