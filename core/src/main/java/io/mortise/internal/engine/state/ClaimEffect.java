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
 * What follows from a transition of a claim. Transitions change the state of their stripe and leave
 * effects with it; a {@link Performer} alone performs them. What comes back to the stripe, an
 * answer or the end of a time, is an event, and runs under its lock.
 */
public sealed interface ClaimEffect {
  /** Performs effects. */
  interface Performer {
    /**
     * Under the lock of the stripe, in the order in which the effects were decided. Asks, calls and
     * wakes nobody before that lock is let go.
     */
    void perform(ClaimEffect effect, OutboxLock stripe);
  }

  /**
   * Asks the store.
   *
   * @param later whether nobody waits for the answer, so that it may share a message with the next
   *     request
   */
  record Send(LiveSession session, Request request, boolean later, ReplyHandler onReply)
      implements ClaimEffect {}

  /** Hears the answer to a request, under the stripe's lock. */
  interface ReplyHandler extends Consumer<Reply> {
    /** The answer is there. Without the lock, before it is waited for. */
    default void arrived() {}
  }

  /** Asks the store whether a session has ended. Either the verdict or the error is null. */
  record Judge(
      SessionId holder, BiConsumer<@Nullable SessionVerdict, @Nullable Throwable> onVerdict)
      implements ClaimEffect {}

  /** Waits until the session has its whole TTL. */
  record AwaitFullTtl(LiveSession session, Runnable onFullTtl) implements ClaimEffect {}

  /** The store no longer knows the session. */
  record DropSession(LiveSession session) implements ClaimEffect {}

  /** A waiter is to see what has become of its wait. */
  record Wake(Waiter waiter) implements ClaimEffect, Runnable {
    @Override
    public void run() {
      waiter.wake();
    }
  }

  /** Listeners, or a caller that waits for an end, are told something. Without the lock. */
  record Tell(Runnable told) implements ClaimEffect {}

  /** Something is due after a time, in nanoseconds. Guarded by the stripe. */
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
