package io.mortise.internal.engine;

import io.mortise.Terms;
import io.mortise.internal.engine.Claim.Passing;
import io.mortise.internal.engine.Claim.Phase;
import io.mortise.internal.engine.Waiter.State;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.Why;
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
final class HandOver {
  private static final int BARGES = 8;
  private static final long BARGE_NANOS = 1_000_000;
  private static final int PASSES = 64;
  private static final long TURN_NANOS = 100_000;
  private static final long PASS_NANOS = 5_000_000;

  private final Engine engine;

  HandOver(Engine engine) {
    this.engine = engine;
  }

  boolean mayBarge(Claim claim) {
    Passing passing = claim.passingOrNull();
    return passing != null
        && passing.offered
        && passing.barges < BARGES
        && passing.bargeUntil - engine.env.now() > 0
        && !claim.hasFairWaiters()
        && canPass(claim);
  }

  void take(Claim claim, Waiter waiter) {
    take(claim, waiter, Objects.requireNonNull(claim.bond()));
    if (claim.wanted) {
      claim.passing().passes++;
    }
  }

  void take(Claim claim, Waiter waiter, Bond bond) {
    if (waiter.claim == claim) {
      claim.remove(waiter);
    }
    LeaseImpl lease = new LeaseImpl(claim, bond, claim.token, waiter);
    if (engine.hasTokens && engine.env.rules().takesFreshToken()) {
      claim.token++;
      claim.tokensLeft--;
    }
    claim.holder = lease;
    waiter.lease = lease;
    waiter.state = State.GRANTED;
  }

  void wanted(Claim claim) {
    if (!claim.wanted) {
      claim.wanted = true;
      Passing passing = claim.passing();
      passing.passes = 0;
      passing.passUntil = engine.env.now() + PASS_NANOS;
    }
  }

  private boolean mustYield(Claim claim) {
    Passing passing = claim.passingOrNull();
    return claim.wanted
        && passing != null
        && engine.env.rules().boundsPasses()
        && (passing.passes >= passes() || passing.passUntil - engine.env.now() <= 0);
  }

  private long passes() {
    return Math.max(BARGES, Math.min(PASSES, BARGES * engine.asking.tripNanos() / TURN_NANOS));
  }

  private boolean canPass(Claim claim) {
    Bond bond = claim.bond();
    long until = bond == null ? Long.MIN_VALUE : bond.validUntil();
    return claim.shared
        && claim.tokensLeft > 0
        && until != Long.MIN_VALUE
        && until - engine.env.now() > 0;
  }

  /**
   * The claim holds and nobody of this process does. Returns the end if it was given back; null if
   * it stays here.
   */
  @Nullable Ending pass(Stripe stripe, Claim claim) {
    Waiter head = claim.head();
    if (head == null || !claim.shared || mustYield(claim)) {
      return engine.claims.release(stripe, claim);
    } else if (claim.tokensLeft == 0) {
      refresh(stripe, claim);
      return null;
    } else if (!canPass(claim)) {
      return engine.claims.release(stripe, claim);
    }
    offer(stripe, claim, head);
    return null;
  }

  private void offer(Stripe stripe, Claim claim, Waiter head) {
    Passing passing = claim.passing();
    long now = engine.env.now();
    if (passing.bargeUntil == 0) {
      passing.bargeUntil = now + BARGE_NANOS;
    }
    boolean waits = head.isThread() && !claim.hasFairWaiters();
    if (waits && passing.barges < BARGES && passing.bargeUntil - now > 0) {
      if (!passing.offered) {
        passing.offered = true;
        stripe.afterwards(head::wake);
      }
    } else {
      resetOffer(claim);
      take(claim, head);
      stripe.afterwards(head::wake);
    }
  }

  void resetOffer(Claim claim) {
    Passing passing = claim.passingOrNull();
    if (passing != null) {
      passing.offered = false;
      passing.barges = 0;
      passing.bargeUntil = 0;
    }
  }

  /** A woken thread comes for the lock; it may find that another passed it. */
  void come(Stripe stripe, Waiter waiter) {
    Claim claim = waiter.claim;
    if (claim == null || waiter.isDone() || claim.head() != waiter || claim.phase() != Phase.HELD) {
      return;
    }
    Passing passing = claim.passingOrNull();
    if (passing == null || !passing.offered) {
      return;
    }
    if (claim.holder == null && !claim.isRefreshing() && canPass(claim)) {
      resetOffer(claim);
      take(claim, waiter);
      return;
    }
    passing.offered = false;
    if (claim.holder == null && !claim.isRefreshing()) {
      // The session's time ran out while the thread woke, and may be extended yet: nobody else
      // would
      // offer the lock again.
      pass(stripe, claim);
    }
  }

  /**
   * Gives each fair waiter an attempt of its own, but for the one whom the claim's attempt is for.
   */
  void spreadFair(Stripe stripe, Claim claim) {
    Waiter waiter = claim.head();
    if (waiter != null && claim.phase() == Phase.ASKED) {
      waiter = waiter.next == claim.head() ? null : waiter.next;
    }
    while (waiter != null) {
      Waiter next = waiter.next == claim.head() ? null : waiter.next;
      if (waiter.options.fair()) {
        claim.remove(waiter);
        Claim own = new Claim(claim.name, claim.mode, waiter.options.terms(), false);
        own.add(waiter);
        stripe.add(own);
        engine.asking.begin(stripe, own);
      }
      waiter = next;
    }
  }

  private void refresh(Stripe stripe, Claim claim) {
    LiveSession session = Objects.requireNonNull(claim.session);
    AttemptId attempt = session.attempt(claim.number);
    claim.passing().refreshing = true;
    stripe.send(
        session,
        new Request.Adjust(claim.name, attempt, claim.mode, Terms.NONE, Request.MAX_TOKENS),
        reply -> refreshed(stripe, claim, attempt, reply));
  }

  private void refreshed(Stripe stripe, Claim claim, AttemptId attempt, Reply reply) {
    stripe.lock();
    try {
      if (!claim.isAttempt(attempt) || claim.phase() != Phase.HELD || !claim.isRefreshing()) {
        return;
      }
      claim.passing().refreshing = false;
      if (reply instanceof Reply.Granted granted) {
        claim.token = granted.token();
        claim.tokensLeft = granted.tokens();
        if (granted.wanted()) {
          wanted(claim);
        }
        pass(stripe, claim);
      } else if (reply instanceof Reply.Refused refused && refused.why() == Why.SESSION_GONE) {
        LiveSession session = Objects.requireNonNull(claim.session);
        stripe.afterwards(() -> engine.sessionGone(session));
      } else {
        engine.claims.release(stripe, claim);
      }
    } finally {
      stripe.unlock();
    }
  }
}
