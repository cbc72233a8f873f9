package io.mortise.internal.engine;

import io.mortise.LockName;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Request;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Ends attempts in the store, and does not rest until the store has answered.
 *
 * <p>A request that got no answer may still be executed, up to the store's longest time in flight:
 * an acquire that arrives after its own abandon would hold for as long as this process lives. So an
 * attempt in doubt is ended once more after that time. What slips through all the same is found by
 * the note of the first contender (invariants.md#leftovers-end).
 */
final class ReleaseProtocol {
  private final Engine engine;

  ReleaseProtocol(Engine engine) {
    this.engine = engine;
  }

  /** Under the stripe's lock. Returns the ending of that attempt, old or new. */
  PendingRelease end(Stripe stripe, PendingRelease pendingRelease) {
    PendingRelease present = stripe.endings.putIfAbsent(pendingRelease.attempt, pendingRelease);
    if (present != null) {
      present.doubtful |= pendingRelease.doubtful;
      return present;
    }
    send(stripe, pendingRelease);
    return pendingRelease;
  }

  private void send(Stripe stripe, PendingRelease pendingRelease) {
    if (pendingRelease.waiver != null) {
      stripe.send(pendingRelease.session, pendingRelease.waiver, reply -> {});
    }
    Request.Abandon abandon = new Request.Abandon(pendingRelease.name, pendingRelease.attempt);
    if (pendingRelease.later) {
      pendingRelease.later = false;
      stripe.sendLater(
          pendingRelease.session, abandon, reply -> answered(stripe, pendingRelease, reply));
    } else {
      stripe.send(
          pendingRelease.session, abandon, reply -> answered(stripe, pendingRelease, reply));
    }
  }

  private void answered(Stripe stripe, PendingRelease pendingRelease, Reply reply) {
    stripe.lock();
    try {
      if (stripe.endings.get(pendingRelease.attempt) != pendingRelease) {
        return;
      }
      if (reply instanceof Reply.Ended ended) {
        // Else an earlier request, whose answer was lost, may have ended it.
        pendingRelease.forgotten |=
            pendingRelease.held != null
                && pendingRelease.failures == 0
                && !pendingRelease.answered
                && ended.how() == EndReason.UNKNOWN
                && pendingRelease.session.mayBeForgotten();
        if (pendingRelease.heldSince != null) {
          Long wantedSince = pendingRelease.wanted ? pendingRelease.heldSince : null;
          stripe.gaveBack(pendingRelease.name, wantedSince, engine.env);
          // Else the abandon would be sent again.
          pendingRelease.wanted = false;
        }
        if (!pendingRelease.answered
            && pendingRelease.how() != null
            && pendingRelease.held != null) {
          engine.lossProtocol.reportBeforeRelease(
              stripe, pendingRelease.held, ended.how(), pendingRelease.forgotten);
        }
        pendingRelease.answered = true;
        tell(stripe, pendingRelease, ended.how());
        if (ended.more() || pendingRelease.wanted) {
          pendingRelease.wanted = false;
          send(stripe, pendingRelease);
        } else if (pendingRelease.doubtful && engine.env.rules().endsDoubtfulAgain()) {
          pendingRelease.doubtful = false;
          long later = engine.store.profile().maxInFlight().toNanos() + 1_000_000;
          engine.env.timers().schedule(later, () -> again(stripe, pendingRelease));
        } else {
          stripe.endings.remove(pendingRelease.attempt);
        }
      } else if (reply instanceof Reply.Failed && engine.isLive(pendingRelease.session)) {
        tell(stripe, pendingRelease, EndReason.UNKNOWN);
        long backoff =
            Math.min(
                engine.env.ttlNanos() / 3, 20_000_000L << Math.min(pendingRelease.failures++, 12));
        engine
            .env
            .timers()
            .schedule(engine.env.jittered(backoff), () -> again(stripe, pendingRelease));
      } else {
        // The session is over, and with it all that hung on it.
        forget(stripe, pendingRelease);
      }
    } finally {
      stripe.unlock();
    }
  }

  /**
   * Under the stripe's lock: if what holds the lock is being ended here, and it is known that the
   * store may not have heard of it, asks for that end once more, before anything that is sent
   * later.
   *
   * @param holder null if the store does not tell: then it may be any that is being ended
   * @return whether something was asked for
   */
  boolean resendUnanswered(Stripe stripe, LockName name, Reply.@Nullable Holder holder) {
    Optional<PendingRelease> unheard =
        (holder != null
                ? Stream.ofNullable(stripe.endings.get(holder.attempt()))
                : stripe.endings.values().stream()
                    .filter(pendingRelease -> pendingRelease.name.equals(name)))
            .filter(pendingRelease -> pendingRelease.failures > 0)
            .findFirst();
    unheard.ifPresent(pendingRelease -> send(stripe, pendingRelease));
    return unheard.isPresent();
  }

  private void again(Stripe stripe, PendingRelease pendingRelease) {
    stripe.lock();
    try {
      if (stripe.endings.get(pendingRelease.attempt) == pendingRelease) {
        send(stripe, pendingRelease);
      }
    } finally {
      stripe.unlock();
    }
  }

  /** Under the stripe's lock. */
  void forget(Stripe stripe, PendingRelease pendingRelease) {
    stripe.endings.remove(pendingRelease.attempt);
    tell(stripe, pendingRelease, EndReason.UNKNOWN);
  }

  private static void tell(Stripe stripe, PendingRelease pendingRelease, EndReason endReason) {
    Runnable told = pendingRelease.known(endReason);
    if (told != null) {
      stripe.afterUnlock(told);
    }
  }

  /**
   * Blocks until the store has answered, or until it is known that it does not. Not interruptible.
   * An answer that comes later is reported if it tells of a loss.
   *
   * @param deadline the engine's time at which it ends at the latest
   */
  void await(PendingRelease pendingRelease, long deadline) {
    Thread caller = Thread.currentThread();
    if (known(pendingRelease, () -> LockSupport.unpark(caller))) {
      return;
    }
    long left = deadline - engine.env.now();
    engine.helpWhileWaiting(
        () -> pendingRelease.how() != null, Duration.ofNanos(Math.max(0, left)));
    boolean interrupted = false;
    left = deadline - engine.env.now();
    while (pendingRelease.how() == null && left > 0) {
      LockSupport.parkNanos(pendingRelease, left);
      left = deadline - engine.env.now();
      interrupted |= Thread.interrupted();
    }
    if (pendingRelease.how() == null) {
      giveUp(pendingRelease);
    }
    if (interrupted) {
      caller.interrupt();
    }
  }

  /** No caller waits for the answer any more: if it tells of a loss, that is reported. */
  void giveUp(PendingRelease pendingRelease) {
    Stripe stripe = engine.stripe(pendingRelease.name);
    stripe.lock();
    try {
      tell(stripe, pendingRelease, EndReason.UNKNOWN);
    } finally {
      stripe.unlock();
    }
  }

  CompletableFuture<Void> future(PendingRelease pendingRelease) {
    CompletableFuture<Void> future = new CompletableFuture<>();
    if (known(pendingRelease, () -> engine.env.callbacks().execute(() -> future.complete(null)))) {
      future.complete(null);
    }
    return future;
  }

  private boolean known(PendingRelease pendingRelease, Runnable listener) {
    if (pendingRelease.how() != null) {
      return true;
    }
    Stripe stripe = engine.stripe(pendingRelease.name);
    stripe.lock();
    try {
      return pendingRelease.whenKnown(listener);
    } finally {
      stripe.unlock();
    }
  }
}
