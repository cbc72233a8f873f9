package io.mortise.internal.client;

import io.mortise.Lease;
import io.mortise.LockName;
import io.mortise.LockTimeoutException;
import io.mortise.event.LockListener.AcquireOutcome;
import io.mortise.internal.engine.Engine;
import io.mortise.internal.engine.LeaseImpl;
import io.mortise.internal.engine.LeaseLeakDetector;
import io.mortise.internal.engine.Waiter;
import io.mortise.internal.engine.Waiter.WaiterState;
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

/**
 * One acquire that no thread waits for. Whoever ends the future otherwise than by a lease gives the
 * attempt up.
 */
final class AsyncAcquire {
  private final Engine engine;
  private final LockName name;
  private final LeaseLeakDetector leaks;
  private final CompletableFuture<Lease> future = new CompletableFuture<>();
  private final AtomicBoolean delivered = new AtomicBoolean();
  private @Nullable Waiter waiter;
  private volatile EngineScheduler.@Nullable ScheduledTimer scheduledTimer;

  /** Until when to wait, and what to say then. */
  record WaitLimit(long nanos, Function<Waiter, RuntimeException> failure) {}

  AsyncAcquire(Engine engine, LockName name, LeaseLeakDetector leaks) {
    this.engine = engine;
    this.name = name;
    this.leaks = leaks;
  }

  CompletableFuture<Lease> begin(
      Function<Runnable, Waiter> waiters, @Nullable WaitLimit waitLimit) {
    Waiter mine = waiters.apply(this::deliver);
    waiter = mine;
    try {
      engine.begin(mine);
    } catch (IllegalStateException e) {
      engine.events().acquireEnded(mine, AcquireOutcome.REFUSED, FailureText.said(e));
      future.completeExceptionally(e);
      return future;
    }
    if (waitLimit != null && waitLimit.nanos() != 0 && !mine.isDone()) {
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
              if (failure != null) {
                // Cancelled, or ended by somebody else. If a grant was faster, deliver() gives it
                // back.
                if (engine.cancel(mine)) {
                  engine.events().acquireEnded(mine, AcquireOutcome.CANCELLED, "");
                }
              }
            });
    assert watched != null;
    return future;
  }

  private void endSoon(Waiter mine, WaitLimit waitLimit, long finalPollLead) {
    engine.onDeadlineNear(mine);
    scheduledTimer = engine.env().timers().schedule(finalPollLead, () -> timeOut(mine, waitLimit));
    if (future.isDone()) {
      scheduledTimer.cancel();
    }
  }

  private void timeOut(Waiter mine, WaitLimit waitLimit) {
    if (engine.cancel(mine)) {
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
          future.completeExceptionally(
              new LockTimeoutException(
                  "Lock '" + name + "' is held by another, and was tried only once."));
      default -> {
        // Cancelled: who cancelled completes the future.
      }
    }
  }

  /** Runs the stage under what was acquired, and releases when it completes, however it does. */
  static <L, T> CompletableFuture<T> thenRelease(
      CompletableFuture<L> acquired,
      Function<? super L, ? extends CompletionStage<T>> task,
      Function<? super L, CompletableFuture<Void>> release) {
    return acquired.thenCompose(
        lease ->
            CompletionStages.start(() -> task.apply(lease).thenApply(value -> value))
                .handle(
                    (value, failure) ->
                        release
                            .apply(lease)
                            .handle(
                                (ignored, loss) -> {
                                  if (failure != null) {
                                    throw wrap(failure);
                                  } else if (loss != null) {
                                    throw wrap(loss);
                                  }
                                  return value;
                                }))
                .thenCompose(released -> released));
  }

  private static CompletionException wrap(Throwable failure) {
    return failure instanceof CompletionException wrapped
        ? wrapped
        : new CompletionException(failure);
  }
}
