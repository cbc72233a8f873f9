package io.mortise.internal.engine;

import io.mortise.HoldTerms;
import io.mortise.event.LeaseEnd;
import io.mortise.internal.engine.Claim.ClaimPhase;
import io.mortise.internal.session.LiveSession;
import io.mortise.internal.session.Validity;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import java.util.Objects;

/**
 * Looks after the locks of a session whose store may have forgotten what it had answered: a replica
 * took over that was behind, or the server restarted from what it had written down. That the
 * session is still there then proves nothing about a single lock. So every lease is in doubt, and
 * not valid, until the store has been asked for its attempt and has answered with the very tokens
 * that it had given; one that it answers otherwise is lost at once, and one that it does not answer
 * at the time until which the lease was believed before.
 *
 * <p>The question is the acquire sent again. Where the store has forgotten the attempt that would
 * grant it anew; so it asks for tokens above those that were given out, which tells the two apart,
 * and lets tokens rise also where the new server's clock is behind. It goes before the polls of
 * those that wait, of which there may be thousands.
 */
final class LeaseRevalidator {
  private static final long FIRST_PAUSE_NANOS = 10_000_000;
  private static final long LONGEST_PAUSE_NANOS = 250_000_000;
  private static final String FORGOTTEN =
      "the store forgot it when another server took over, or when it restarted";

  private final Engine engine;
  private final boolean takesFloor;

  LeaseRevalidator(Engine engine) {
    this.engine = engine;
    this.takesFloor = engine.store.profile().can(Capability.TOKEN_FLOOR);
  }

  /** The store may have forgotten all that it answered to this session. No lock is held. */
  void all(LiveSession session) {
    int held = engine.stripes.sum(stripe -> allOf(stripe, session));
    engine.stickyProtocol.endForgotten();
    engine.events.sessions().inDoubt(session, held);
  }

  /** Returns how many were held. */
  private int allOf(Stripe stripe, LiveSession session) {
    int held = 0;
    for (Claim claim : Engine.claimsOf(stripe, session)) {
      if (claim.phase() == ClaimPhase.HELD) {
        held++;
        begin(stripe, claim, session);
      } else if (claim.phase() == ClaimPhase.ASKED) {
        // Its place in the queue may be gone.
        engine.acquireProtocol.pollNow(stripe, claim);
      }
    }
    return held;
  }

  private void begin(Stripe stripe, Claim claim, LiveSession session) {
    LeaseImpl lease = claim.holder;
    if (StickyProtocol.isIdle(claim)) {
      engine.stickyProtocol.forgotten(claim);
      return;
    } else if (lease == null) {
      // On its way from one thread to the next: nobody relies on it yet.
      claim.clearHandoffState();
      engine.transitions.release(stripe, claim);
      return;
    } else if (!lease.isOpen()) {
      return;
    }
    if (claim.isRefreshing()) {
      // A block of a server that has been replaced, perhaps.
      claim.handoffState().refreshing = false;
    }
    if (!(lease.validity() instanceof Validity.Unconfirmed)) {
      lease.validity(new Validity.Unconfirmed(lease.validity()));
    }
    Validity.Unconfirmed validity = (Validity.Unconfirmed) lease.validity();
    AttemptId attempt = session.attempt(claim.number);
    ask(stripe, claim, new Revalidation(lease, validity, session.incarnationChanges(), attempt), 0);
    long left = validity.before().leftNanos();
    engine
        .env
        .timers()
        .schedule(
            left,
            () -> {
              stripe.lock();
              try {
                if (lease.validity() == validity && isOpen(claim, lease)) {
                  lose(stripe, claim, "the store did not confirm it after a restart or failover");
                }
              } finally {
                stripe.unlock();
              }
            });
  }

  /** What is being asked for: a lease, since so many doubts about its session. */
  private record Revalidation(
      LeaseImpl lease, Validity.Unconfirmed validity, int incarnationChanges, AttemptId attempt) {}

  private static boolean isOpen(Claim claim, LeaseImpl lease) {
    return claim.phase() == ClaimPhase.HELD && claim.holder == lease && lease.isOpen();
  }

  private void ask(Stripe stripe, Claim claim, Revalidation revalidation, int failures) {
    LiveSession session = Objects.requireNonNull(claim.session);
    AcquireProtocol.SentRequest sent =
        new AcquireProtocol.SentRequest(
            revalidation.attempt(),
            engine.env.now(),
            session.suspendedNanos(),
            session.incarnationChanges());
    stripe.send(
        session,
        new Request.Acquire(
            claim.name,
            revalidation.attempt(),
            claim.mode,
            false,
            HoldTerms.NONE,
            1,
            takesFloor ? claim.token + claim.tokensLeft : 0,
            null,
            true),
        reply -> answered(stripe, claim, revalidation, failures, sent, reply));
  }

  private void answered(
      Stripe stripe,
      Claim claim,
      Revalidation revalidation,
      int failures,
      AcquireProtocol.SentRequest sent,
      Reply reply) {
    stripe.lock();
    try {
      LeaseImpl lease = revalidation.lease();
      LiveSession session = claim.session;
      if (!isOpen(claim, lease)
          || session == null
          || session.incarnationChanges() != revalidation.incarnationChanges()
          || lease.validity() != revalidation.validity()) {
        return;
      }
      if (reply instanceof Reply.Granted granted
          && granted.token() + granted.tokens() == claim.token + claim.tokensLeft) {
        confirmed(stripe, claim, lease, sent, granted);
      } else if (reply instanceof Reply.Failed) {
        long pause = Math.min(LONGEST_PAUSE_NANOS, FIRST_PAUSE_NANOS << Math.min(failures, 10));
        engine
            .env
            .timers()
            .schedule(
                engine.env.jittered(pause), () -> again(stripe, claim, revalidation, failures + 1));
      } else if (reply instanceof Reply.Refused refused
          && refused.why() == Reply.RefusalReason.SESSION_GONE) {
        stripe.afterUnlock(() -> engine.sessionGone(session));
      } else {
        lose(stripe, claim, FORGOTTEN);
      }
    } finally {
      stripe.unlock();
    }
  }

  private void again(Stripe stripe, Claim claim, Revalidation revalidation, int failures) {
    stripe.lock();
    try {
      LiveSession session = claim.session;
      if (isOpen(claim, revalidation.lease())
          && session != null
          && session.incarnationChanges() == revalidation.incarnationChanges()
          && revalidation.lease().validity() == revalidation.validity()) {
        ask(stripe, claim, revalidation, failures);
      }
    } finally {
      stripe.unlock();
    }
  }

  private void confirmed(
      Stripe stripe,
      Claim claim,
      LeaseImpl lease,
      AcquireProtocol.SentRequest sent,
      Reply.Granted granted) {
    LiveSession session = Objects.requireNonNull(claim.session);
    Validity before = ((Validity.Unconfirmed) lease.validity()).before();
    if (granted.atMostLeft() == null) {
      lease.validity(session);
      claim.stopTimer();
    } else {
      Validity.RecentAtMost recentAtMost =
          before instanceof Validity.Capped capped ? capped.shortest() : null;
      Validity.Capped capped =
          engine.transitions.timed(session, session, sent, granted.atMostLeft(), recentAtMost);
      lease.validity(capped);
      engine.transitions.watch(stripe, claim, capped);
    }
    if (granted.wanted()) {
      engine.localHandoff.wanted(claim);
    }
  }

  private void lose(Stripe stripe, Claim claim, String why) {
    engine.lossProtocol.lose(stripe, claim, LeaseEnd.FORGOTTEN, why);
    engine.transitions.release(stripe, claim);
  }
}
