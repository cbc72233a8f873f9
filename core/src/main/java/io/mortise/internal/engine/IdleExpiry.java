package io.mortise.internal.engine;

import io.mortise.internal.engine.state.EngineSettings;
import io.mortise.internal.engine.state.IdleClaims.StickyClaim;
import io.mortise.internal.engine.state.Stripe;
import io.mortise.internal.engine.state.StripeTable;
import io.mortise.internal.runtime.IdleLimit;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Releases idle grants that are too many or too old: see {@link StickyProtocol}. One timer serves
 * all stripes.
 */
final class IdleExpiry implements IdleLimit.IdleOwner {
  /**
   * The interval between two checks for expired grants: at least this, and ten times the duration
   * of one check.
   */
  private static final long CHECK_NANOS = 20_000_000;

  private static final long NEVER = Long.MAX_VALUE;

  private final EngineSettings settings;
  private final StripeTable stripes;
  private final ClaimTransitions transitions;

  /** The time of the next check. */
  private final AtomicLong nextCheck = new AtomicLong(NEVER);

  IdleExpiry(EngineSettings settings, StripeTable stripes, ClaimTransitions transitions) {
    this.settings = settings;
    this.stripes = stripes;
    this.transitions = transitions;
  }

  @Override
  public OptionalLong oldestSince() {
    Stripe stripe = stripes.withOldestIdle();
    return stripe == null
        ? OptionalLong.empty()
        : OptionalLong.of(stripe.idleClaims().oldestSince());
  }

  @Override
  public void endOldest(long since) {
    Stripe stripe = stripes.withOldestIdle();
    if (stripe == null) {
      return;
    }
    stripe.lock();
    try {
      StickyClaim oldest = stripe.idleClaims().oldest();
      // Otherwise it was taken meanwhile, and another is the oldest.
      if (oldest != null && oldest.idleSince() - since <= 0) {
        transitions.release(stripe, oldest, true);
      }
    } finally {
      stripe.unlock();
    }
  }

  /** Checks for expired grants now; called with no lock held. */
  void checkNow() {
    checkAt(settings.now());
  }

  /** Schedules a check at this time at the latest. */
  void checkAt(long due) {
    long known = nextCheck.get();
    while (known == NEVER || due - known < 0) {
      if (nextCheck.compareAndSet(known, due)) {
        long delay = Math.max(0, due - settings.now());
        settings.env().timers().schedule(delay, () -> check(due));
        return;
      }
      known = nextCheck.get();
    }
  }

  private void check(long due) {
    if (!nextCheck.compareAndSet(due, NEVER)) {
      return;
    }
    long now = settings.now();
    long[] left = {NEVER};
    stripes.forEach(stripe -> left[0] = Math.min(left[0], endOver(stripe, now)));
    long pauseNanos = CHECK_NANOS + 10 * (settings.now() - now);
    if (left[0] != NEVER) {
      checkAt(now + Math.max(left[0], pauseNanos));
    }
  }

  /** Ends expired grants. Returns the nanoseconds until the next expiry. */
  private long endOver(Stripe stripe, long now) {
    long next = NEVER;
    StickyClaim claim = stripe.idleClaims().oldest();
    while (claim != null) {
      StickyClaim newer = claim.newer();
      long left = claim.idleUntil() - now;
      if (left > 0 || claim.session() == null || claim.session().isUnconfirmed()) {
        next = Math.min(next, Math.max(0, left));
      } else {
        transitions.release(stripe, claim, true);
      }
      claim = newer;
    }
    return next;
  }
}
