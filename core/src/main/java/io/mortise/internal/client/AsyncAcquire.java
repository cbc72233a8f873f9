package io.mortise.internal.client;

import io.mortise.Lease;
import io.mortise.event.LockListener.AcquireOutcome;
import io.mortise.internal.engine.Engine;
import io.mortise.internal.engine.state.LeaseImpl;
import io.mortise.internal.engine.state.LeaseLeakDetector;
import io.mortise.internal.engine.state.Waiter;
import io.mortise.internal.engine.state.Waiter.WaiterState;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.internal.runtime.EngineScheduler;
import io.mortise.internal.runtime.FailureText;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** One acquire without a waiting thread. Completing the future gives the attempt up. */
final class AsyncAcquire {
  private final Engine engine;
  private final LeaseLeakDetector leaks;
  private final CompletableFuture<Lease> future = new CompletableFuture<>();
  private final AtomicBoolean delivered = new AtomicBoolean();
  private @Nullable Waiter waiter;
  private @Nullable WaitLimit waitLimit;
  private volatile EngineScheduler.@Nullable ScheduledTimer scheduledTimer;

  /**
   * The limit of a wait, and its failure.
   *
   * @param nanos the longest wait; a try also ends at the store's timeout
   * @param failure the failure of a wait whose time is over, or of a try that found the lock busy
   */
  record WaitLimit(long nanos, Function<Waiter, RuntimeException> failure) {}

  AsyncAcquire(Engine engine, LeaseLeakDetector leaks) {
    this.engine = engine;
    this.leaks = leaks;
  }

  CompletableFuture<Lease> begin(
      Function<Runnable, Waiter> waiters, @Nullable WaitLimit waitLimit) {
    Waiter mine = waiters.apply(this::deliver);
    waiter = mine;
    this.waitLimit = waitLimit;
    try {
      engine.begin(mine);
    } catch (IllegalStateException e) {
      engine.events().acquireEnded(mine, AcquireOutcome.REFUSED, FailureText.said(e));
      future.completeExceptionally(e);
      return future;
    }
    if (waitLimit != null && mine.isTry() && !mine.isDone()) {
      boolean expires = engine.tryNanos() <= waitLimit.nanos();
      scheduledTimer =
          engine
              .env()
              .timers()
              .schedule(
                  Math.min(engine.tryNanos(), waitLimit.nanos()),
                  () -> timeOut(mine, waitLimit, expires));
    } else if (waitLimit != null && !mine.isDone()) {
      long finalPollLead = Engine.finalPollLead(waitLimit.nanos());
      scheduledTimer =
          engine
              .env()
              .timers()
              .schedule(
                  waitLimit.nanos() - finalPollLead, () -> endSoon(mine, waitLimit, finalPollLead));
    }
    if (mine.isDone()) {
      deliver();
    }
    CompletableFuture<Lease> watched =
        future.whenComplete(
            (lease, failure) -> {
              EngineScheduler.ScheduledTimer present = scheduledTimer;
              if (present != null) {
                present.cancel();
              }
              // Cancelled, or completed by a caller. If the grant came first, complete() releases
              // it.
              if (!mine.isDone() && engine.cancel(mine)) {
                engine.events().acquireEnded(mine, AcquireOutcome.CANCELLED, "");
              }
            });
    assert watched != null;
    return future;
  }

  private void endSoon(Waiter mine, WaitLimit waitLimit, long finalPollLead) {
    engine.onDeadlineNear(mine);
    scheduledTimer =
        engine.env().timers().schedule(finalPollLead, () -> timeOut(mine, waitLimit, false));
    if (future.isDone()) {
      scheduledTimer.cancel();
    }
  }

  private void timeOut(Waiter mine, WaitLimit waitLimit, boolean expires) {
    if (expires ? engine.expireTry(mine) : engine.cancel(mine)) {
      engine
          .env()
          .callbacks()
          .execute(
              () -> {
                engine.events().acquireEnded(mine);
                future.completeExceptionally(waitLimit.failure().apply(mine));
              });
    }
  }

  private void deliver() {
    if (delivered.compareAndSet(false, true)) {
      engine.env().callbacks().execute(this::complete);
    }
  }

  private void complete() {
    Waiter mine = Objects.requireNonNull(waiter);
    if (mine.state() != WaiterState.CANCELLED) {
      engine.events().acquireEnded(mine);
    }
    switch (mine.state()) {
      case GRANTED -> {
        LeaseImpl lease = mine.lease();
        if (!future.complete(leaks.watch(lease))) {
          engine.giveBack(lease);
        }
      }
      case FAILED -> future.completeExceptionally(mine.failureHere());
      case BUSY ->
          future.completeExceptionally(Objects.requireNonNull(waitLimit).failure().apply(mine));
      default -> {
        // Cancelled: the canceller completes the future.
      }
    }
  }

  /**
   * Runs the stage under the acquired lock, and releases when the stage completes, by success or
   * failure. The end of the returned future ends the acquire, and a late grant is released: a
   * dependent stage of the acquire would be skipped then, and its lease dropped.
   */
  static <L, T> CompletableFuture<T> thenRelease(
      CompletableFuture<L> acquired,
      Function<? super L, ? extends CompletionStage<T>> task,
      Function<? super L, CompletableFuture<Void>> release) {
    CompletableFuture<T> result = new CompletableFuture<>();
    CompletableFuture<L> watched =
        acquired.whenComplete(
            (lease, failure) -> {
              if (failure != null) {
                result.completeExceptionally(wrap(failure));
              } else if (result.isDone()) {
                CompletableFuture<Void> unused = release.apply(lease);
              } else {
                run(lease, task, release, result);
              }
            });
    CompletableFuture<T> ended = result.whenComplete((value, failure) -> acquired.cancel(false));
    assert watched != null && ended != null;
    return result;
  }

  private static <L, T> void run(
      L lease,
      Function<? super L, ? extends CompletionStage<T>> task,
      Function<? super L, CompletableFuture<Void>> release,
      CompletableFuture<T> result) {
    CompletionStage<T> done =
        CompletionStages.start(() -> task.apply(lease).thenApply(value -> value))
            .whenComplete(
                (value, failure) -> {
                  CompletionStage<Void> released =
                      CompletionStages.start(() -> release.apply(lease))
                          .whenComplete(
                              (ignored, loss) -> {
                                if (failure != null) {
                                  result.completeExceptionally(wrap(failure));
                                } else if (loss != null) {
                                  result.completeExceptionally(wrap(loss));
                                } else {
                                  result.complete(value);
                                }
                              });
                  assert released != null;
                });
    assert done != null;
  }

  private static CompletionException wrap(Throwable failure) {
    return failure instanceof CompletionException wrapped
        ? wrapped
        : new CompletionException(failure);
  }
}
