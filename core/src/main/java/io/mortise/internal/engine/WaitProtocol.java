package io.mortise.internal.engine;

import io.mortise.internal.engine.state.Claim;
import io.mortise.internal.engine.state.Claim.ClaimPhase;
import io.mortise.internal.engine.state.EngineSettings;
import io.mortise.internal.engine.state.IdleClaims.StickyClaim;
import io.mortise.internal.engine.state.Stripe;
import io.mortise.internal.engine.state.Waiter;
import io.mortise.internal.session.StoreOutage;
import io.mortise.internal.session.StoreSilence;
import io.mortise.spi.Mode;
import org.jspecify.annotations.Nullable;

/**
 * The begin and end of a caller's wait: it joins a claim of this process, or begins one. Everything
 * here runs under the stripe's lock.
 */
final class WaitProtocol {
  /** A store that is silent for longer is not merely slow. */
  private static final long SILENCE_NANOS = 1_000_000_000;

  /** Nor is a store that is silent for longer than this during at least half of a wait. */
  private static final long SHORT_SILENCE_NANOS = 500_000_000;

  private final EngineSettings settings;
  private final EngineSessions sessions;
  private final ClaimRequests requests;
  private final ClaimTransitions transitions;
  private final LocalHandoff localHandoff;
  private final StickyProtocol stickyProtocol;
  private final QueueLimit queueLimit;

  WaitProtocol(
      EngineSettings settings,
      EngineSessions sessions,
      ClaimRequests requests,
      ClaimTransitions transitions,
      LocalHandoff localHandoff,
      StickyProtocol stickyProtocol,
      QueueLimit queueLimit) {
    this.settings = settings;
    this.sessions = sessions;
    this.requests = requests;
    this.transitions = transitions;
    this.localHandoff = localHandoff;
    this.stickyProtocol = stickyProtocol;
    this.queueLimit = queueLimit;
  }

  /** Begins a wait. It may be done when this returns. */
  void begin(Stripe stripe, Waiter waiter) {
    if (waiter.isEndless()) {
      stripe.refuseSelfWait(waiter);
    }
    if (waiter.isConditional() && queueLimit.refuses(stripe, waiter)) {
      return;
    }
    boolean mayJoin = waiter.mode().equals(Mode.EXCLUSIVE) && !waiter.options().terms().isTimed();
    Claim common = stripe.common(waiter.name());
    if (common instanceof StickyClaim idle && idle.isIdle()) {
      if (mayJoin && stickyProtocol.mayTake(idle)) {
        transitions.takeIdle(stripe, idle, waiter);
        return;
      }
      // The release must not delay the next request.
      transitions.release(stripe, idle, true);
      common = stripe.common(waiter.name());
    }
    if (common == null || !mayJoin) {
      ask(stripe, claimFor(waiter, mayJoin), waiter);
    } else if (waiter.options().fair() && (common.isWanted() || common.isQueued())) {
      ask(stripe, claimFor(waiter, false), waiter);
    } else {
      join(stripe, common, waiter);
    }
  }

  private void ask(Stripe stripe, Claim claim, Waiter waiter) {
    claim.add(waiter);
    stripe.add(claim);
    requests.begin(stripe, claim);
  }

  private static Claim claimFor(Waiter waiter, boolean joinable) {
    return joinable && waiter.options().sticky() != null
        ? new StickyClaim(waiter.name(), waiter.mode(), waiter.options().terms())
        : new Claim(waiter.name(), waiter.mode(), waiter.options().terms(), joinable);
  }

  private void join(Stripe stripe, Claim claim, Waiter waiter) {
    if (claim.phase() == ClaimPhase.HELD
        && claim.holder() == null
        && localHandoff.mayBarge(claim)) {
      transitions.barge(stripe, claim, waiter);
    } else if (waiter.isTry()) {
      Throwable storeFailure = claim.phase() == ClaimPhase.HELD ? null : claim.storeFailure();
      if (storeFailure == null) {
        claim.showHolder(waiter);
        waiter.busy();
      } else {
        // Other local waiters for the store say nothing about the lock.
        waiter.fail(settings.unavailable(claim.name(), storeFailure));
      }
    } else {
      claim.contended();
      claim.add(waiter);
      if (queueLimit.joined(stripe, claim, waiter)) {
        requests.pollNow(stripe, claim);
      }
    }
  }

  /** Handles the wake-up of a waiter's thread. */
  void onWakeUp(Stripe stripe, Waiter waiter) {
    Claim claim = Claim.of(waiter);
    if (claim != null && !waiter.isDone()) {
      transitions.onWakeUp(stripe, claim, waiter);
    }
  }

  /** Handles the last part of a timed wait. */
  void onDeadlineNear(Stripe stripe, Waiter waiter) {
    Claim claim = Claim.of(waiter);
    if (claim != null && !waiter.isDone()) {
      requests.pollBeforeDeadline(stripe, claim);
    }
  }

  /** Ends a waiter's wait. Returns false if the wait has already ended. */
  boolean cancel(Stripe stripe, Waiter waiter) {
    Claim claim = Claim.of(waiter);
    if (waiter.isDone() || claim == null) {
      return false;
    }
    long now = settings.now();
    StoreSilence silence = sessions.silence();
    Long silentSince = claim.silentSince(waiter.arrivedAt(), silence);
    waiter.cancel(
        storeFailure(claim, waiter, silence, silentSince, now),
        StoreOutage.unansweredPart(
            claim.outageOrNull(),
            claim.phase() == ClaimPhase.HELD ? null : silence,
            silentSince,
            waiter.arrivedAt(),
            now));
    boolean wasHead = claim.head() == waiter;
    claim.remove(waiter);
    if (wasHead) {
      localHandoff.resetOffer(claim);
    }
    if (claim.head() == null && claim.phase() != ClaimPhase.HELD) {
      transitions.giveUp(stripe, claim);
    } else if (claim.phase() == ClaimPhase.HELD
        && claim.holder() == null
        && wasHead
        && !claim.isRefreshing()) {
      transitions.handOff(stripe, claim);
    }
    return true;
  }

  /** As {@link #cancel}, for a try whose time is over: the store did not decide it. */
  boolean expireTry(Stripe stripe, Waiter waiter) {
    if (!cancel(stripe, waiter)) {
      return false;
    }
    waiter.notDecided(EngineSettings.noAnswer("within", settings.tryNanos()));
    return true;
  }

  /**
   * The failure that leaves open whether others held the lock; null if it is known that they did.
   */
  private static @Nullable Throwable storeFailure(
      Claim claim, Waiter waiter, StoreSilence silence, @Nullable Long silentSince, long now) {
    if (claim.storeFailure() != null || claim.phase() == ClaimPhase.HELD) {
      return claim.storeFailure();
    }
    long silent = silentSince == null ? 0 : now - silentSince;
    boolean most = silent >= SHORT_SILENCE_NANOS && silent >= (now - waiter.arrivedAt()) / 2;
    if (!most && claim.phase() == ClaimPhase.ASKED) {
      // Nor is that known if other requests have had no answer for as long.
      silent = Math.max(silent, silence.nanos(now));
    }
    return most || silent >= SILENCE_NANOS ? EngineSettings.noAnswer("for", silent) : null;
  }

  /**
   * How long before the end of a wait {@link #onDeadlineNear} is to be called. A quarter longer
   * than the silence that counts, because threads and timers run late.
   */
  static long finalPollLead(long waitNanos) {
    return Math.min(SILENCE_NANOS, waitNanos / 2) / 4 * 5;
  }
}
