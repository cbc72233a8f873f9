package io.mortise.internal.engine;

import io.mortise.LockName;
import io.mortise.internal.engine.state.ClaimEffect;
import io.mortise.internal.engine.state.ClaimEffect.Send;
import io.mortise.internal.engine.state.EngineSettings;
import io.mortise.internal.engine.state.PendingRelease;
import io.mortise.internal.engine.state.Stripe;
import io.mortise.internal.engine.state.StripeTable;
import io.mortise.internal.session.LiveSession;
import io.mortise.spi.AttemptId;
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
 * Ends attempts in the store, and retries until the store has answered.
 *
 * <p>A request that got no answer may still be executed, up to the store's longest time in flight:
 * an acquire that arrives after its own abandon would hold for as long as this process lives. So an
 * attempt in doubt is ended once more after that time. A hold that still remains is found by the
 * note of the first contender (invariants.md#leftovers-end).
 */
final class ReleaseProtocol {
  private final EngineSettings settings;
  private final EngineSessions sessions;
  private final StripeTable stripes;
  private final LossReport lossReport;

  /** Receives losses known only from the answer to a release, when no caller waits for it. */
  interface LossReport {
    /** Called under the stripe's lock. */
    void lostBeforeRelease(Stripe stripe, PendingRelease pendingRelease, EndReason how);
  }

  ReleaseProtocol(
      EngineSettings settings,
      EngineSessions sessions,
      StripeTable stripes,
      LossReport lossReport) {
    this.settings = settings;
    this.sessions = sessions;
    this.stripes = stripes;
    this.lossReport = lossReport;
  }

  /** Called under the stripe's lock. Returns the pending release of that attempt, old or new. */
  PendingRelease end(Stripe stripe, PendingRelease pendingRelease) {
    PendingRelease present = stripe.endings().putIfAbsent(pendingRelease.attempt(), pendingRelease);
    if (present != null) {
      present.merge(pendingRelease);
      return present;
    }
    send(stripe, pendingRelease);
    return pendingRelease;
  }

  /** Called under the stripe's lock: ends an attempt of this process that no claim stands for. */
  void endUnknown(Stripe stripe, LockName name, AttemptId attempt) {
    LiveSession session = sessions.current();
    if (settings.rules().endsUnknownAttempts()
        && session != null
        && session.id().equals(attempt.session())
        && !stripe.endings().containsKey(attempt)) {
      end(stripe, new PendingRelease(name, session, attempt, false, null, false));
    }
  }

  private void send(Stripe stripe, PendingRelease pendingRelease) {
    LiveSession session = pendingRelease.session();
    if (pendingRelease.waiver() != null) {
      stripe.emit(new Send(session, pendingRelease.waiver(), false, reply -> {}));
    }
    stripe.emit(
        new Send(
            session,
            new Request.Abandon(pendingRelease.name(), pendingRelease.attempt()),
            pendingRelease.takeLater(),
            reply -> answered(stripe, pendingRelease, reply)));
  }

  private void answered(Stripe stripe, PendingRelease pendingRelease, Reply reply) {
    if (stripe.endings().get(pendingRelease.attempt()) != pendingRelease) {
      return;
    }
    if (reply instanceof Reply.Ended ended) {
      ended(stripe, pendingRelease, ended);
    } else if (reply instanceof Reply.Failed && !pendingRelease.session().hasEnded()) {
      tell(stripe, pendingRelease, EndReason.UNKNOWN);
      long backoff =
          Math.min(
              settings.env().ttlNanos() / 3, 20_000_000L << Math.min(pendingRelease.failed(), 12));
      sendLater(stripe, pendingRelease, settings.env().jittered(backoff));
    } else {
      // The session is over, and with it all its holds.
      forget(stripe, pendingRelease);
    }
  }

  private void ended(Stripe stripe, PendingRelease pendingRelease, Reply.Ended ended) {
    boolean unreported = pendingRelease.ended(ended.how());
    if (pendingRelease.tellsWanted()) {
      stripe.gaveBack(pendingRelease.name(), pendingRelease.takeWantedSince(), settings.env());
    }
    if (unreported) {
      lossReport.lostBeforeRelease(stripe, pendingRelease, ended.how());
    }
    tell(stripe, pendingRelease, ended.how());
    boolean wanted = pendingRelease.takeWanted();
    if (ended.more() || wanted) {
      send(stripe, pendingRelease);
    } else if (settings.rules().endsDoubtfulAgain() && pendingRelease.takeDoubt()) {
      sendLater(stripe, pendingRelease, settings.inFlightNanos() + 1_000_000);
    } else {
      stripe.endings().remove(pendingRelease.attempt());
    }
  }

  private void sendLater(Stripe stripe, PendingRelease pendingRelease, long delay) {
    stripe.emit(
        new ClaimEffect.Timer(
            delay,
            () -> {
              if (stripe.endings().get(pendingRelease.attempt()) == pendingRelease) {
                send(stripe, pendingRelease);
              }
            }));
  }

  /**
   * Called under the stripe's lock: if the holder is being ended here, and its end may not have
   * reached the store, sends that end once more, before any later request.
   *
   * @param holder null if the store does not report it: then it may be any attempt that is being
   *     ended
   * @return whether an end was sent
   */
  boolean resendUnanswered(Stripe stripe, LockName name, Reply.@Nullable Holder holder) {
    Optional<PendingRelease> unheard =
        (holder != null
                ? Stream.ofNullable(stripe.endings().get(holder.attempt()))
                : stripe.endings().values().stream()
                    .filter(pendingRelease -> pendingRelease.name().equals(name)))
            .filter(PendingRelease::isUnheard)
            .findFirst();
    unheard.ifPresent(pendingRelease -> send(stripe, pendingRelease));
    return unheard.isPresent();
  }

  /** Called under the stripe's lock. */
  void forget(Stripe stripe, PendingRelease pendingRelease) {
    stripe.endings().remove(pendingRelease.attempt());
    tell(stripe, pendingRelease, EndReason.UNKNOWN);
  }

  private static void tell(Stripe stripe, PendingRelease pendingRelease, EndReason endReason) {
    Runnable told = pendingRelease.known(endReason);
    if (told != null) {
      stripe.emit(new ClaimEffect.NotifyListeners(told));
    }
  }

  /**
   * Blocks until the store has answered, or is known not to answer. Not interruptible. A later
   * answer is reported if it shows a loss.
   *
   * @param deadline the end of the wait at the latest, in the engine's time
   */
  void await(PendingRelease pendingRelease, long deadline) {
    Thread caller = Thread.currentThread();
    if (known(pendingRelease, () -> LockSupport.unpark(caller))) {
      return;
    }
    long left = deadline - settings.now();
    sessions.helpWhileWaiting(
        () -> pendingRelease.how() != null, Duration.ofNanos(Math.max(0, left)));
    boolean interrupted = false;
    left = deadline - settings.now();
    while (pendingRelease.how() == null && left > 0) {
      LockSupport.parkNanos(pendingRelease, left);
      left = deadline - settings.now();
      interrupted |= Thread.interrupted();
    }
    if (pendingRelease.how() == null) {
      giveUp(pendingRelease);
    }
    if (interrupted) {
      caller.interrupt();
    }
  }

  /** Marks that no caller waits for the answer any more: if it shows a loss, that is reported. */
  void giveUp(PendingRelease pendingRelease) {
    Stripe stripe = stripes.of(pendingRelease.name());
    stripe.lock();
    try {
      tell(stripe, pendingRelease, EndReason.UNKNOWN);
    } finally {
      stripe.unlock();
    }
  }

  CompletableFuture<Void> future(PendingRelease pendingRelease) {
    CompletableFuture<Void> future = new CompletableFuture<>();
    if (known(
        pendingRelease, () -> settings.env().callbacks().execute(() -> future.complete(null)))) {
      future.complete(null);
    }
    return future;
  }

  private boolean known(PendingRelease pendingRelease, Runnable listener) {
    if (pendingRelease.how() != null) {
      return true;
    }
    Stripe stripe = stripes.of(pendingRelease.name());
    stripe.lock();
    try {
      return pendingRelease.whenKnown(listener);
    } finally {
      stripe.unlock();
    }
  }
}
