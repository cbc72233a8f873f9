package io.mortise.internal.engine;

import io.mortise.LockOptions;
import io.mortise.LockTimeoutException;
import io.mortise.UnsupportedByStoreException;
import io.mortise.internal.engine.state.Claim;
import io.mortise.internal.engine.state.Claim.ClaimPhase;
import io.mortise.internal.engine.state.EngineSettings;
import io.mortise.internal.engine.state.IdleClaims;
import io.mortise.internal.engine.state.Stripe;
import io.mortise.internal.engine.state.Waiter;
import io.mortise.spi.Mode;
import org.jspecify.annotations.Nullable;

/**
 * Refuses a waiter that finds as many waiters as it allows ({@link LockOptions#maxWaiters}), or
 * that needs a queue in a store without one. Waiters of this process are counted here, before
 * anything is sent. The store counts others, in the answer to the acquire that joins its queue: a
 * waiter above its limit leaves that queue at once. An admitted waiter stays admitted.
 *
 * <p>Everything here runs under the stripe's lock.
 */
final class QueueLimit {
  private final EngineSettings settings;

  QueueLimit(EngineSettings settings) {
    this.settings = settings;
  }

  /** Decides on a new wait: whether it is refused without a request to the store. */
  boolean refuses(Stripe stripe, Waiter waiter) {
    boolean canQueue = settings.canQueue();
    if (waiter.options().fair() && !canQueue) {
      waiter.fail(
          unsupported(waiter, "waiters for lock '%s' have no order", "LockOptions.withFair"));
      return true;
    }
    if (waiter.isAdmitted()) {
      return false;
    }
    if (!canQueue) {
      waiter.fail(
          unsupported(
              waiter,
              "it cannot be said how many wait for lock '%s'",
              "LockOptions.withMaxWaiters"));
      return true;
    }
    return refuseIfFull(stripe, waiter);
  }

  private UnsupportedByStoreException unsupported(Waiter waiter, String effect, String option) {
    return new UnsupportedByStoreException(
        "Store %s has no queue, so that %s. Acquire without %s."
            .formatted(settings.storeName(), effect.formatted(waiter.name()), option));
  }

  private boolean refuseIfFull(Stripe stripe, Waiter waiter) {
    int waiting = waitingHere(stripe, waiter);
    if (waiting < most(waiter)) {
      return false;
    }
    Claim common = stripe.common(waiter.name());
    boolean joins =
        waiter.mode().equals(Mode.EXCLUSIVE)
            && !waiter.options().terms().isTimed()
            && common != null
            && !IdleClaims.isIdle(common);
    if (waiting == 0 && !joins) {
      // The lock may be free, or have room.
      return false;
    }
    waiter.fail(full(waiter, waiting));
    return true;
  }

  /**
   * The number of threads of this process that certainly wait. The first one may find the lock
   * free, and does not count until the store has answered.
   */
  private static int waitingHere(Stripe stripe, Waiter waiter) {
    int waiting = 0;
    for (Claim claim = stripe.claims().first(waiter.name());
        claim != null;
        claim = stripe.claims().after(claim)) {
      Waiter head = claim.head();
      boolean mayTakeFreeLock = claim.phase() != ClaimPhase.HELD && !claim.isQueued();
      Waiter next = head == null || mayTakeFreeLock ? afterHead(claim) : head;
      for (; next != null; next = claim.after(next)) {
        waiting++;
      }
    }
    return waiting;
  }

  private static @Nullable Waiter afterHead(Claim claim) {
    Waiter head = claim.head();
    return head == null ? null : claim.after(head);
  }

  /**
   * Handles a waiter that has joined others of this process.
   *
   * @return whether to ask the store how many are ahead: perhaps fewer by now
   */
  boolean joined(Stripe stripe, Claim claim, Waiter waiter) {
    if (waiter.isAdmitted()) {
      return false;
    }
    if (claim.phase() == ClaimPhase.HELD
        || (claim.isQueued() && claim.ahead() + waitingHere(stripe, waiter) - 1 < most(waiter))) {
      waiter.admit();
      return false;
    }
    return claim.isQueued();
  }

  /**
   * Refuses waiters above their limits, now that the number before a claim is known. The claim may
   * have no waiters after this.
   */
  void check(Stripe stripe, Claim claim, int ahead) {
    int waiting = ahead;
    Waiter next = claim.head();
    while (next != null) {
      Waiter waiter = next;
      next = claim.after(waiter);
      if (!waiter.isAdmitted() && waiting >= most(waiter)) {
        claim.remove(waiter);
        waiter.fail(full(waiter, waiting));
        stripe.wake(waiter);
      } else {
        waiter.admit();
        waiting++;
      }
    }
  }

  private static int most(Waiter waiter) {
    return waiter.options().maxWaiters().orElse(Integer.MAX_VALUE);
  }

  private LockTimeoutException full(Waiter waiter, int waiting) {
    return new LockTimeoutException(
        "Could not wait for lock '%s': %s wait already, and at most %s may (store=%s). Try again later, or allow more by LockOptions.withMaxWaiters."
            .formatted(waiter.name(), waiting, most(waiter), settings.storeName()),
        waiting);
  }
}
