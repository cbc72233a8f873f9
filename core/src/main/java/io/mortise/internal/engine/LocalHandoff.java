package io.mortise.internal.engine;

import io.mortise.HoldTerms;
import io.mortise.event.LeaseEnd;
import io.mortise.internal.engine.Claim.ClaimPhase;
import io.mortise.internal.engine.Claim.HandoffState;
import io.mortise.internal.engine.Waiter.WaiterState;
import io.mortise.internal.session.LiveSession;
import io.mortise.internal.session.Validity;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.RefusalReason;
import io.mortise.spi.Request;
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
 */
final class LocalHandoff {
  private static final int BARGES = 8;
  private static final long BARGE_NANOS = 1_000_000;
  private static final int PASSES = 64;
  private static final long TURN_NANOS = 100_000;
  private static final long PASS_NANOS = 5_000_000;

  private final Engine engine;

  LocalHandoff(Engine engine) {
    this.engine = engine;
  }

  boolean mayBarge(Claim claim) {
    HandoffState handoffState = claim.handoffStateOrNull();
    return handoffState != null
        && handoffState.offered
        && handoffState.barges < BARGES
        && handoffState.bargeUntil - engine.env.now() > 0
        && !claim.hasFairWaiters()
        && canPass(claim);
  }

  void take(Claim claim, Waiter waiter) {
    take(claim, waiter, Objects.requireNonNull(claim.validity()));
    if (claim.wanted) {
      claim.handoffState().passes++;
    }
  }

  void take(Claim claim, Waiter waiter, Validity validity) {
    if (waiter.claim == claim) {
      claim.remove(waiter);
    }
    LeaseImpl lease =
        waiter.trace == null
            ? new LeaseImpl(claim, validity, claim.token, waiter)
            : new TracedLease(claim, validity, claim.token, waiter, waiter.trace);
    if (engine.hasTokens && engine.env.rules().takesFreshToken()) {
      claim.token++;
      claim.tokensLeft--;
    }
    claim.holder = lease;
    waiter.lease = lease;
    waiter.waiterState = WaiterState.GRANTED;
    engine.stickyProtocol.taken(claim, waiter);
  }

  void wanted(Claim claim) {
    if (!claim.wanted) {
      claim.wanted = true;
      HandoffState handoffState = claim.handoffState();
      handoffState.passes = 0;
      handoffState.passUntil = engine.env.now() + PASS_NANOS;
    }
  }

  /** Since when it is known that another process wants the claim's hold; null if it is not. */
  @Nullable Long wantedSince(Claim claim) {
    if (!claim.wanted) {
      return null;
    }
    HandoffState handoffState = claim.handoffStateOrNull();
    return handoffState == null ? engine.env.now() : handoffState.passUntil - PASS_NANOS;
  }

  private boolean mustYield(Claim claim) {
    HandoffState handoffState = claim.handoffStateOrNull();
    return claim.wanted
        && handoffState != null
        && engine.env.rules().boundsPasses()
        && (handoffState.passes >= passes() || handoffState.passUntil - engine.env.now() <= 0);
  }

  private long passes() {
    return Math.max(
        BARGES, Math.min(PASSES, BARGES * engine.acquireProtocol.roundTripNanos() / TURN_NANOS));
  }

  private boolean canPass(Claim claim) {
    Validity validity = claim.validity();
    return claim.joinable && claim.tokensLeft > 0 && validity != null && !validity.isOver();
  }

  /**
   * The claim holds and nobody of this process does. Returns the end if it was given back; null if
   * it stays here.
   */
  @Nullable PendingRelease handOff(Stripe stripe, Claim claim) {
    Waiter head = claim.head();
    if (head == null || !claim.joinable || mustYield(claim)) {
      return engine.transitions.release(stripe, claim);
    } else if (claim.tokensLeft == 0) {
      if (!claim.isRefreshing()) {
        refresh(stripe, claim);
      }
      return null;
    } else if (!canPass(claim)) {
      return engine.transitions.release(stripe, claim);
    }
    offer(stripe, claim, head);
    return null;
  }

  private void offer(Stripe stripe, Claim claim, Waiter head) {
    HandoffState handoffState = claim.handoffState();
    long now = engine.env.now();
    if (handoffState.bargeUntil == 0) {
      handoffState.bargeUntil = now + BARGE_NANOS;
    }
    boolean waits = head.isThread() && !claim.hasFairWaiters();
    if (waits && handoffState.barges < BARGES && handoffState.bargeUntil - now > 0) {
      if (!handoffState.offered) {
        handoffState.offered = true;
        stripe.afterUnlock(head::wake);
      }
    } else {
      resetOffer(claim);
      take(claim, head);
      stripe.afterUnlock(head::wake);
    }
  }

  void resetOffer(Claim claim) {
    HandoffState handoffState = claim.handoffStateOrNull();
    if (handoffState != null) {
      handoffState.offered = false;
      handoffState.barges = 0;
      handoffState.bargeUntil = 0;
    }
  }

  /** A woken thread comes for the lock; it may find that another passed it. */
  void onWakeUp(Stripe stripe, Waiter waiter) {
    Claim claim = waiter.claim;
    if (claim == null
        || waiter.isDone()
        || claim.head() != waiter
        || claim.phase() != ClaimPhase.HELD) {
      return;
    }
    HandoffState handoffState = claim.handoffStateOrNull();
    if (handoffState == null || !handoffState.offered) {
      return;
    }
    if (claim.holder == null && canPass(claim)) {
      resetOffer(claim);
      take(claim, waiter);
      return;
    }
    handoffState.offered = false;
    if (claim.holder == null && !claim.isRefreshing()) {
      // The session's time ran out while the thread woke, and may be extended yet. Nobody else
      // would offer the lock again.
      handOff(stripe, claim);
    }
  }

  /**
   * Gives each fair waiter an attempt of its own, but for the one whom the claim's attempt is for.
   */
  void splitFairWaiters(Stripe stripe, Claim claim) {
    Waiter waiter = claim.head();
    if (waiter != null && claim.phase() == ClaimPhase.ASKED) {
      waiter = waiter.next == claim.head() ? null : waiter.next;
    }
    while (waiter != null) {
      Waiter next = waiter.next == claim.head() ? null : waiter.next;
      if (waiter.options.fair()) {
        claim.remove(waiter);
        Claim own = new Claim(claim.name, claim.mode, waiter.options.terms(), false);
        own.add(waiter);
        stripe.add(own);
        engine.acquireProtocol.begin(stripe, own);
      }
      waiter = next;
    }
  }

  /** Asks for a fresh block of tokens, under which the claim may be held or idle meanwhile. */
  void refresh(Stripe stripe, Claim claim) {
    LiveSession session = Objects.requireNonNull(claim.session);
    AttemptId attempt = session.attempt(claim.number);
    claim.handoffState().refreshing = true;
    stripe.send(
        session,
        new Request.Adjust(claim.name, attempt, claim.mode, HoldTerms.NONE, Request.MAX_TOKENS, 0),
        reply -> refreshed(stripe, claim, attempt, reply));
  }

  private void refreshed(Stripe stripe, Claim claim, AttemptId attempt, Reply reply) {
    stripe.lock();
    try {
      if (!claim.isAttempt(attempt) || claim.phase() != ClaimPhase.HELD || !claim.isRefreshing()) {
        return;
      }
      claim.handoffState().refreshing = false;
      if (reply instanceof Reply.Granted granted) {
        claim.token = granted.token();
        claim.tokensLeft = granted.tokens();
        engine.stickyProtocol.refilled(claim);
        if (granted.wanted()) {
          engine.stickyProtocol.wanted(stripe, claim);
        }
        if (StickyProtocol.isIdle(claim)) {
          claim.trim();
        } else if (claim.phase() == ClaimPhase.HELD && claim.holder == null) {
          handOff(stripe, claim);
        }
      } else if (reply instanceof Reply.Refused refused
          && refused.why() == RefusalReason.SESSION_GONE) {
        LiveSession session = Objects.requireNonNull(claim.session);
        stripe.afterUnlock(() -> engine.sessionGone(session));
      } else if (claim.holder == null) {
        engine.transitions.release(stripe, claim);
      } else if (reply instanceof Reply.Refused refused) {
        refused(stripe, claim, refused);
      }
    } finally {
      stripe.unlock();
    }
  }

  /** The claim, which somebody holds, gets no more tokens. Those that are left may be used up. */
  private void refused(Stripe stripe, Claim claim, Reply.Refused refused) {
    switch (refused.why()) {
      case TOKENS_USED_UP, STORE_FULL -> engine.stickyProtocol.notRefilled(claim);
      default -> {
        engine.lossProtocol.lose(stripe, claim, LeaseEnd.FORGOTTEN, "the store no longer knew it");
        engine.transitions.release(stripe, claim);
      }
    }
  }
}
