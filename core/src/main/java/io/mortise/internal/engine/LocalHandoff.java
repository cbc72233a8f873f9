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
 * <p>When a holder lets go and others of this process wait, the next one gets the lock and the next
 * token without I/O. The head is woken, and until it comes a newcomer may take the lock, at most 8
 * times and for 1 ms: the processor is kept busy while a thread wakes. A fair waiter lets nobody
 * pass. Once another process is known to wait, the lock goes back to the store after 8 passes, with
 * the remaining waiters as a new attempt at the queue's end: from there on each 8 would cost the
 * waking of a thread, and where the store is fast, the other process comes as soon. Where it is
 * slow, there are 8 for each 100 µs that it takes to answer, at most 64, within at most 5 ms.
 *
 * <p><b>Fair.</b> While this process stands in the store's queue, and once it is known that another
 * does, each fair waiter gets an attempt of its own, so that the store's queue decides. Those who
 * already waited when the note arrived go first: they came before it, or while it travelled.
 *
 * <p>Everything but the round trips runs under the stripe's lock. Decides; {@link ClaimTransitions}
 * releases, refreshes and wakes.
 */
final class LocalHandoff {
  private final EngineSettings settings;

  /** How long the store took to answer lately; a moving average. Losing an update does no harm. */
  private volatile long roundTripNanos;

  LocalHandoff(EngineSettings settings) {
    this.settings = settings;
  }

  /** What becomes of a held lock that nobody of this process holds. */
  enum HandoffStep {
    /** The store gets it back. */
    RELEASE,
    /** A fresh block of tokens is asked for first. */
    REFRESH,
    /** The head is woken, and takes it when it comes. */
    WAKE,
    /** The head has it. */
    TAKE,
    /** Nothing: tokens or the head are on their way. */
    AWAIT,
    /** The head came and may not take it now. It is to be decided anew. */
    OFFER_AGAIN
  }

  /** The store has answered a request that was sent then. */
  void answered(long sentAt) {
    long trip = roundTripNanos;
    roundTripNanos = trip + (settings.now() - sentAt - trip) / 8;
  }

  /** How long the store takes to answer. */
  long roundTripNanos() {
    return roundTripNanos;
  }

  /** Whether a newcomer may pass the head that was woken. */
  boolean mayBarge(Claim claim) {
    HandoffState state = claim.handoffStateOrNull();
    return state != null
        && state.isOffered()
        && state.allowsBarging(settings.now())
        && !claim.hasFairWaiters()
        && canPass(claim);
  }

  /** A waiter takes the lock within this process. */
  void pass(Claim claim, Waiter waiter) {
    take(claim, waiter, Objects.requireNonNull(claim.validity()));
    if (claim.isWanted()) {
      claim.handoffState().passed();
    }
  }

  /** A waiter takes the lock. */
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

  /** Since when it is known that another process wants the claim's hold; null if it is not. */
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

  /** The claim holds and nobody of this process does. */
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

  /** The head has gone. */
  void resetOffer(Claim claim) {
    HandoffState state = claim.handoffStateOrNull();
    if (state != null) {
      state.resetOffer();
    }
  }

  /**
   * A woken thread comes for the lock; it may find that another passed it.
   *
   * @return what becomes of the lock; {@code AWAIT} if nothing does
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
    // The session's time ran out while the thread woke, and may be extended yet. Nobody else would
    // offer the lock again.
    return claim.holder() == null && !claim.isRefreshing()
        ? HandoffStep.OFFER_AGAIN
        : HandoffStep.AWAIT;
  }
}
