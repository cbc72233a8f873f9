package io.mortise.internal.engine;

import io.mortise.LockName;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.How;
import io.mortise.spi.Request;
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
 * the note of the first contender (DESIGN A1).
 */
final class Endings {
  private final Engine engine;

  Endings(Engine engine) {
    this.engine = engine;
  }

  /** Under the stripe's lock. Returns the ending of that attempt, old or new. */
  Ending end(Stripe stripe, Ending ending) {
    Ending present = stripe.endings.putIfAbsent(ending.attempt, ending);
    if (present != null) {
      present.doubtful |= ending.doubtful;
      return present;
    }
    send(stripe, ending);
    return ending;
  }

  private void send(Stripe stripe, Ending ending) {
    if (ending.waiver != null) {
      stripe.send(ending.session, ending.waiver, reply -> {});
    }
    Request.Abandon abandon = new Request.Abandon(ending.name, ending.attempt);
    if (ending.later) {
      ending.later = false;
      stripe.sendLater(ending.session, abandon, reply -> answered(stripe, ending, reply));
    } else {
      stripe.send(ending.session, abandon, reply -> answered(stripe, ending, reply));
    }
  }

  private void answered(Stripe stripe, Ending ending, Reply reply) {
    stripe.lock();
    try {
      if (stripe.endings.get(ending.attempt) != ending) {
        return;
      }
      if (reply instanceof Reply.Ended ended) {
        // Else an earlier request, whose answer was lost, may have ended it.
        ending.forgotten |=
            ending.wasHeld
                && ending.failures == 0
                && ending.how() == null
                && ended.how() == How.UNKNOWN
                && ending.session.mayBeForgotten();
        tell(stripe, ending, ended.how());
        if (ended.more() || ending.wanted) {
          ending.wanted = false;
          send(stripe, ending);
        } else if (ending.doubtful && engine.env.rules().endsDoubtfulAgain()) {
          ending.doubtful = false;
          long later = engine.store.profile().maxInFlight().toNanos() + 1_000_000;
          engine.env.timers().schedule(later, () -> again(stripe, ending));
        } else {
          stripe.endings.remove(ending.attempt);
        }
      } else if (reply instanceof Reply.Failed && engine.isLive(ending.session)) {
        tell(stripe, ending, How.UNKNOWN);
        long backoff =
            Math.min(engine.env.ttlNanos() / 3, 20_000_000L << Math.min(ending.failures++, 12));
        engine.env.timers().schedule(engine.env.jittered(backoff), () -> again(stripe, ending));
      } else {
        // The session is over, and with it all that hung on it.
        forget(stripe, ending);
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
  boolean hasten(Stripe stripe, LockName name, Reply.@Nullable Holder holder) {
    Optional<Ending> unheard =
        (holder != null
                ? Stream.ofNullable(stripe.endings.get(holder.attempt()))
                : stripe.endings.values().stream().filter(ending -> ending.name.equals(name)))
            .filter(ending -> ending.failures > 0)
            .findFirst();
    unheard.ifPresent(ending -> send(stripe, ending));
    return unheard.isPresent();
  }

  private void again(Stripe stripe, Ending ending) {
    stripe.lock();
    try {
      if (stripe.endings.get(ending.attempt) == ending) {
        send(stripe, ending);
      }
    } finally {
      stripe.unlock();
    }
  }

  /** Under the stripe's lock. */
  void forget(Stripe stripe, Ending ending) {
    stripe.endings.remove(ending.attempt);
    tell(stripe, ending, How.UNKNOWN);
  }

  private static void tell(Stripe stripe, Ending ending, How how) {
    Runnable told = ending.known(how);
    if (told != null) {
      stripe.afterwards(told);
    }
  }

  /**
   * Blocks until the store has answered, or until it is known that it does not. Not interruptible.
   */
  void await(Ending ending) {
    Thread caller = Thread.currentThread();
    if (known(ending, () -> LockSupport.unpark(caller))) {
      return;
    }
    engine.linger(() -> ending.how() != null, Engine.HOWEVER_LONG);
    boolean interrupted = false;
    while (ending.how() == null) {
      LockSupport.park(ending);
      interrupted |= Thread.interrupted();
    }
    if (interrupted) {
      caller.interrupt();
    }
  }

  CompletableFuture<Void> future(Ending ending) {
    CompletableFuture<Void> future = new CompletableFuture<>();
    if (known(ending, () -> engine.env.callbacks().execute(() -> future.complete(null)))) {
      future.complete(null);
    }
    return future;
  }

  private boolean known(Ending ending, Runnable listener) {
    if (ending.how() != null) {
      return true;
    }
    Stripe stripe = engine.stripe(ending.name);
    stripe.lock();
    try {
      return ending.whenKnown(listener);
    } finally {
      stripe.unlock();
    }
  }
}
