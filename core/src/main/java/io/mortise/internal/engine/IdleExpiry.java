package io.mortise.internal.engine;

import io.mortise.internal.engine.state.EngineSettings;
import io.mortise.internal.engine.state.IdleClaims.StickyClaim;
import io.mortise.internal.engine.state.Stripe;
import io.mortise.internal.engine.state.StripeTable;
import io.mortise.internal.runtime.IdleLimit;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Gives back idle grants that are too many or too old: see {@link StickyProtocol}. One timer serves
 * all stripes.
 */
final class IdleExpiry implements IdleLimit.IdleOwner {
  /** Between two looks for what is over: at least so long, and ten times as long as one took. */
  private static final long CHECK_NANOS = 20_000_000;

  private static final long NEVER = Long.MAX_VALUE;

  private final EngineSettings settings;
  private final StripeTable stripes;
  private final ClaimTransitions transitions;

  /** When is looked for what is over. */
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
      // Else it was taken meanwhile, and another is the oldest.
      if (oldest != null && oldest.idleSince() - since <= 0) {
        transitions.release(stripe, oldest, true);
      }
    } finally {
      stripe.unlock();
    }
  }

  /** Looks now for what is over, with no lock held by then. */
  void checkNow() {
    checkAt(settings.now());
  }

  /** Looks for what is over at this time at the latest. */
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

  /** Ends what is over. Returns in how many nanoseconds the next one will be. */
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
