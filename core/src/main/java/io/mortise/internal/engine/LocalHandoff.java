package io.mortise.internal.engine;

import io.mortise.internal.engine.state.Claim;
import io.mortise.internal.engine.state.Claim.ClaimPhase;
import io.mortise.internal.engine.state.EngineSettings;
import io.mortise.internal.engine.state.HandoffState;
import io.mortise.internal.engine.state.LeaseImpl;
import io.mortise.internal.engine.state.Waiter;
import io.mortise.internal.session.Validity;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Passes a lock from one thread of this process to the next.
 *
 * <p>When a holder releases and others of this process wait, the next one gets the lock and the
 * next token without I/O. The head is woken, and until it runs a newcomer may take the lock, at
 * most 8 times and for 1 ms: the processor is kept busy while a thread wakes. No newcomer passes a
 * fair waiter. Once another process is known to wait, the lock goes back to the store after 8
 * passes, with the remaining waiters as a new attempt at the queue's end: from there on each 8
 * passes would cost the wake-up of a thread, and with a fast store the other process is as soon.
 * With a slow store there are 8 passes for each 100 µs of its answer time, at most 64, within at
 * most 5 ms.
 *
 * <p><b>Fair.</b> While this process stands in the store's queue, and once another is known to,
 * each fair waiter gets an attempt of its own, so that the store's queue decides. Waiters that were
 * there when the note arrived go first: they came before it, or while it was in flight.
 *
 * <p>Everything but the measurement of round trips runs under the stripe's lock. This class
 * decides; {@link ClaimTransitions} releases, refreshes and wakes.
 */
final class LocalHandoff {
  private final EngineSettings settings;

  /** The store's recent answer time; a moving average. A lost update does no harm. */
  private volatile long roundTripNanos;

  LocalHandoff(EngineSettings settings) {
    this.settings = settings;
  }

  /** The next step of a held lock without a local lease. */
  enum HandoffStep {
    /** Return it to the store. */
    RELEASE,
    /** Request a fresh block of tokens first. */
    REFRESH,
    /** Wake the head, which takes the lock when it runs. */
    WAKE,
    /** The head takes it now. */
    TAKE,
    /** Do nothing: tokens or the head are in flight. */
    AWAIT,
    /** The head came and may not take it now; decide again. */
    OFFER_AGAIN
  }

  /** Records an answer to a request that was sent at this time. */
  void answered(long sentAt) {
    long trip = roundTripNanos;
    roundTripNanos = trip + (settings.now() - sentAt - trip) / 8;
  }

  /** The store's recent answer time. */
  long roundTripNanos() {
    return roundTripNanos;
  }

  /** Whether a newcomer may pass the woken head. */
  boolean mayBarge(Claim claim) {
    HandoffState state = claim.handoffStateOrNull();
    return state != null
        && state.isOffered()
        && state.allowsBarging(settings.now())
        && !claim.hasFairWaiters()
        && canPass(claim);
  }

  void pass(Claim claim, Waiter waiter) {
    take(claim, waiter, Objects.requireNonNull(claim.validity()));
    if (claim.isWanted()) {
      claim.handoffState().passed();
    }
  }

  void take(Claim claim, Waiter waiter, Validity validity) {
    if (Claim.of(waiter) == claim) {
      claim.remove(waiter);
    }
    LeaseImpl lease =
        LeaseImpl.open(
            claim.name(),
            validity,
            claim.token(),
            waiter.isThread() ? waiter.caller() : null,
            waiter.options().releaseAsync(),
            waiter.trace());
    claim.heldBy(lease, settings.hasTokens() && settings.rules().takesFreshToken());
    waiter.grant(lease);
  }

  /** The time since which another process is known to want the claim's hold; null if none is. */
  @Nullable Long wantedSince(Claim claim) {
    if (!claim.isWanted()) {
      return null;
    }
    HandoffState state = claim.handoffStateOrNull();
    return state == null ? settings.now() : state.wantedSince();
  }

  private boolean mustYield(Claim claim) {
    HandoffState state = claim.handoffStateOrNull();
    return claim.isWanted()
        && state != null
        && settings.rules().boundsPasses()
        && state.isTurnOver(settings.now(), roundTripNanos);
  }

  private static boolean canPass(Claim claim) {
    Validity validity = claim.validity();
    return claim.isJoinable() && claim.tokensLeft() > 0 && validity != null && !validity.isOver();
  }

  /** Decides for a claim that holds without a local lease. */
  HandoffStep next(Claim claim) {
    Waiter head = claim.head();
    if (head == null || !claim.isJoinable() || mustYield(claim)) {
      return HandoffStep.RELEASE;
    } else if (claim.tokensLeft() == 0) {
      return claim.isRefreshing() ? HandoffStep.AWAIT : HandoffStep.REFRESH;
    } else if (!canPass(claim)) {
      return HandoffStep.RELEASE;
    }
    HandoffState state = claim.handoffState();
    long now = settings.now();
    state.beginOffers(now);
    boolean waits = head.isThread() && !claim.hasFairWaiters();
    if (!waits || !state.allowsBarging(now)) {
      state.resetOffer();
      return HandoffStep.TAKE;
    }
    return state.offer() ? HandoffStep.WAKE : HandoffStep.AWAIT;
  }

  /** Records that the head has gone. */
  void resetOffer(Claim claim) {
    HandoffState state = claim.handoffStateOrNull();
    if (state != null) {
      state.resetOffer();
    }
  }

  /**
   * Decides for a woken thread; another may have passed it.
   *
   * @return the next step of the lock; {@code AWAIT} if there is none
   */
  HandoffStep onWakeUp(Claim claim, Waiter waiter) {
    HandoffState state = claim.handoffStateOrNull();
    if (state == null
        || !state.isOffered()
        || claim.head() != waiter
        || claim.phase() != ClaimPhase.HELD) {
      return HandoffStep.AWAIT;
    }
    if (claim.holder() == null && canPass(claim)) {
      state.resetOffer();
      return HandoffStep.TAKE;
    }
    state.declined();
    // The session's time ran out while the thread woke, and may still be extended. No other event
    // would offer the lock again.
    return claim.holder() == null && !claim.isRefreshing()
        ? HandoffStep.OFFER_AGAIN
        : HandoffStep.AWAIT;
  }
}
