package io.mortise.internal.engine;

import io.mortise.HoldTerms;
import io.mortise.internal.engine.state.Claim;
import io.mortise.internal.engine.state.Claim.ClaimPhase;
import io.mortise.internal.engine.state.ClaimEffect;
import io.mortise.internal.engine.state.EngineSettings;
import io.mortise.internal.engine.state.IdleClaims;
import io.mortise.internal.engine.state.LeaseImpl;
import io.mortise.internal.engine.state.SentRequest;
import io.mortise.internal.engine.state.Stripe;
import io.mortise.internal.engine.state.StripeTable;
import io.mortise.internal.session.LiveSession;
import io.mortise.internal.session.Validity;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;

/**
 * Confirms the locks of a session whose store may have forgotten grants that it had answered: it
 * failed over to a stale replica, or the server restarted from older data. An existing session then
 * proves nothing about a single lock. So every lease is in doubt, and not valid, until the store
 * has answered a request for its attempt with the tokens of the original grant. With any other
 * answer the lease is lost at once; without an answer it is lost at its previous deadline.
 *
 * <p>The request is the repeated acquire. If the store has forgotten the attempt, that would grant
 * it again. So it asks for tokens above those given out: that distinguishes the two cases, and
 * tokens rise even if the new server's clock is behind. It goes before the polls of waiters, of
 * which there may be thousands.
 */
final class LeaseRevalidator {
  private static final long FIRST_PAUSE_NANOS = 10_000_000;
  private static final long LONGEST_PAUSE_NANOS = 250_000_000;
  private static final String FORGOTTEN =
      "the store forgot it when another server took over, or when it restarted";

  private final EngineSettings settings;
  private final EngineEvents events;
  private final StripeTable stripes;
  private final ClaimRequests requests;
  private final ClaimTransitions transitions;
  private final StickyProtocol stickyProtocol;
  private final IdleExpiry idleExpiry;

  LeaseRevalidator(
      EngineSettings settings,
      EngineEvents events,
      StripeTable stripes,
      ClaimRequests requests,
      ClaimTransitions transitions,
      StickyProtocol stickyProtocol,
      IdleExpiry idleExpiry) {
    this.settings = settings;
    this.events = events;
    this.stripes = stripes;
    this.requests = requests;
    this.transitions = transitions;
    this.stickyProtocol = stickyProtocol;
    this.idleExpiry = idleExpiry;
  }

  /** The store may have forgotten all its answers to this session. Called with no lock held. */
  void all(LiveSession session) {
    int held = stripes.sum(stripe -> allOf(stripe, session));
    idleExpiry.checkNow();
    events.sessions().inDoubt(session, held);
  }

  /** Returns the number of leases held. */
  private int allOf(Stripe stripe, LiveSession session) {
    int held = 0;
    for (Claim claim : stripe.claimsOf(session)) {
      if (claim.phase() == ClaimPhase.HELD) {
        held++;
        begin(stripe, claim, session);
      } else if (claim.phase() == ClaimPhase.ASKED) {
        // Its place in the queue may be lost.
        requests.pollNow(stripe, claim);
      }
    }
    return held;
  }

  private void begin(Stripe stripe, Claim claim, LiveSession session) {
    LeaseImpl lease = claim.holder();
    if (IdleClaims.isIdle(claim)) {
      stickyProtocol.forgotten(claim);
      return;
    } else if (lease == null) {
      // The grant is between two threads: no lease relies on it yet.
      claim.clearHandoffState();
      transitions.release(stripe, claim);
      return;
    } else if (!lease.isOpen()) {
      return;
    }
    if (claim.isRefreshing()) {
      // The block may come from a server that has been replaced.
      claim.handoffState().refreshing(false);
    }
    if (!(lease.validity() instanceof Validity.Unconfirmed)) {
      lease.validity(new Validity.Unconfirmed(lease.validity()));
    }
    Validity.Unconfirmed validity = (Validity.Unconfirmed) lease.validity();
    ask(
        stripe,
        claim,
        new Revalidation(lease, validity, session.incarnationChanges(), claim.attempt()),
        0);
    stripe.emit(
        new ClaimEffect.Timer(
            validity.before().leftNanos(),
            () -> {
              if (lease.validity() == validity && isOpen(claim, lease)) {
                transitions.loseForgotten(
                    stripe, claim, "the store did not confirm it after a restart or failover");
              }
            }));
  }

  /** A lease to be confirmed, with the number of doubts about its session so far. */
  private record Revalidation(
      LeaseImpl lease, Validity.Unconfirmed validity, int incarnationChanges, AttemptId attempt) {
    /** Whether this confirmation is still needed. */
    boolean isCurrent(Claim claim) {
      LiveSession session = claim.session();
      return isOpen(claim, lease)
          && session != null
          && session.incarnationChanges() == incarnationChanges
          && lease.validity() == validity;
    }
  }

  private static boolean isOpen(Claim claim, LeaseImpl lease) {
    return claim.phase() == ClaimPhase.HELD && claim.holder() == lease && lease.isOpen();
  }

  private void ask(Stripe stripe, Claim claim, Revalidation revalidation, int failures) {
    LiveSession session = claim.openSession();
    SentRequest sent = SentRequest.now(session, revalidation.attempt(), settings.now());
    stripe.emit(
        new ClaimEffect.Send(
            session,
            new Request.Acquire(
                claim.name(),
                revalidation.attempt(),
                claim.mode(),
                false,
                HoldTerms.NONE,
                1,
                settings.takesFloor() ? claim.tokenEnd() : 0,
                null,
                true),
            false,
            reply -> answered(stripe, claim, revalidation, failures, sent, reply)));
  }

  private void answered(
      Stripe stripe,
      Claim claim,
      Revalidation revalidation,
      int failures,
      SentRequest sent,
      Reply reply) {
    if (!revalidation.isCurrent(claim)) {
      return;
    }
    if (reply instanceof Reply.Granted granted
        && granted.token() + granted.tokens() == claim.tokenEnd()) {
      confirmed(stripe, claim, revalidation, sent, granted);
    } else if (reply instanceof Reply.Failed) {
      long pause = Math.min(LONGEST_PAUSE_NANOS, FIRST_PAUSE_NANOS << Math.min(failures, 10));
      stripe.emit(
          new ClaimEffect.Timer(
              settings.env().jittered(pause),
              () -> {
                if (revalidation.isCurrent(claim)) {
                  ask(stripe, claim, revalidation, failures + 1);
                }
              }));
    } else if (reply instanceof Reply.Refused refused
        && refused.why() == Reply.RefusalReason.SESSION_GONE) {
      stripe.emit(new ClaimEffect.DropSession(claim.openSession()));
    } else {
      transitions.loseForgotten(stripe, claim, FORGOTTEN);
    }
  }

  private void confirmed(
      Stripe stripe,
      Claim claim,
      Revalidation revalidation,
      SentRequest sent,
      Reply.Granted granted) {
    LiveSession session = claim.openSession();
    LeaseImpl lease = revalidation.lease();
    Validity before = revalidation.validity().before();
    Validity validity = session;
    if (granted.atMostLeft() != null) {
      Validity.RecentAtMost recentAtMost =
          before instanceof Validity.Capped capped ? capped.shortest() : null;
      validity = transitions.timed(session, session, sent, granted.atMostLeft(), recentAtMost);
    } else if (before instanceof Validity.Capped) {
      // Only the engine keeps its at-most time.
      validity = before;
    }
    lease.validity(validity);
    transitions.watch(stripe, claim, validity);
    if (granted.wanted()) {
      claim.wanted(settings.now());
    }
  }
}
