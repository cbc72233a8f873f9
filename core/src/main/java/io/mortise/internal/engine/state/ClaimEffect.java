package io.mortise.internal.engine.state;

import io.mortise.internal.queue.OutboxLock;
import io.mortise.internal.runtime.EngineScheduler;
import io.mortise.internal.runtime.EngineScheduler.ScheduledTimer;
import io.mortise.internal.session.LiveSession;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionVerdict;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An effect of a claim's transition. Transitions change the state of their stripe and leave effects
 * with it; only a {@link Performer} performs them. An answer or the end of a time is an event, and
 * runs under the stripe's lock.
 */
public sealed interface ClaimEffect {
  /** Performs effects. */
  interface Performer {
    /**
     * Called under the lock of the stripe, in the order in which the effects were decided. Sends
     * requests, calls and wakes only after that lock is released.
     */
    void perform(ClaimEffect effect, OutboxLock stripe);
  }

  /**
   * Sends a request to the store.
   *
   * @param later whether no caller waits for the answer, so that it may share a message with the
   *     next request
   */
  record Send(LiveSession session, Request request, boolean later, ReplyHandler onReply)
      implements ClaimEffect {}

  /** Receives the answer to a request, under the stripe's lock. */
  interface ReplyHandler extends Consumer<Reply> {
    /** The answer has arrived. Called without the lock, before waiting for it. */
    default void arrived() {}
  }

  /** Has the store judge whether a session has ended. Either the verdict or the error is null. */
  record JudgeSession(
      SessionId holder, BiConsumer<@Nullable SessionVerdict, @Nullable Throwable> onVerdict)
      implements ClaimEffect {}

  /** Waits until the session has its whole TTL. */
  record AwaitFullTtl(LiveSession session, Runnable onFullTtl) implements ClaimEffect {}

  /** Drops a session that the store no longer knows. */
  record DropSession(LiveSession session) implements ClaimEffect {}

  /** Wakes a waiter to see the outcome of its wait. */
  record Wake(Waiter waiter) implements ClaimEffect, Runnable {
    @Override
    public void run() {
      waiter.wake();
    }
  }

  /** Notifies listeners, or a caller that waits for an end. Runs without the lock. */
  record NotifyListeners(Runnable told) implements ClaimEffect {}

  /** Runs an action after a time, in nanoseconds. Guarded by the stripe. */
  final class Timer implements ClaimEffect {
    private final long delay;
    private final Runnable onDue;
    private @Nullable ScheduledTimer scheduled;

    public Timer(long delay, Runnable onDue) {
      this.delay = delay;
      this.onDue = onDue;
    }

    public Runnable onDue() {
      return onDue;
    }

    public void start(EngineScheduler timers, Runnable due) {
      scheduled = timers.schedule(delay, due);
    }

    void stop() {
      if (scheduled != null) {
        scheduled.cancel();
      }
    }
  }
}
