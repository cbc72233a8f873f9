package io.mortise.internal.engine;

import io.mortise.StoreUnfitException;
import io.mortise.event.LeaseEnd;
import io.mortise.internal.engine.state.Claim;
import io.mortise.internal.engine.state.Claim.ClaimPhase;
import io.mortise.internal.engine.state.EngineSettings;
import io.mortise.internal.engine.state.PendingRelease;
import io.mortise.internal.engine.state.Stripe;
import io.mortise.internal.engine.state.StripeTable;
import io.mortise.internal.session.LiveSession;
import io.mortise.internal.session.SessionRenewer;
import io.mortise.internal.session.StoreOutage;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.SessionNotification;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Turns events of the {@link SessionRenewer} into changes of claims. Called with no lock held. */
final class SessionEventHandler {
  private static final Logger log = LoggerFactory.getLogger(SessionEventHandler.class);

  private final EngineSettings settings;
  private final EngineSessions sessions;
  private final StripeTable stripes;
  private final ClaimRequests requests;
  private final ClaimTransitions transitions;
  private final AcquireProtocol acquireProtocol;
  private final ReleaseProtocol releaseProtocol;
  private final LossProtocol lossProtocol;

  /** Whether a session was ever open. Needs no guard: the renewer makes one call at a time. */
  private volatile boolean hasOpened;

  /** The time since which the store is unfit for opening a session; null if it is not. */
  private volatile @Nullable Long unfitSince;

  SessionEventHandler(
      EngineSettings settings,
      EngineSessions sessions,
      StripeTable stripes,
      ClaimRequests requests,
      ClaimTransitions transitions,
      AcquireProtocol acquireProtocol,
      ReleaseProtocol releaseProtocol,
      LossProtocol lossProtocol) {
    this.settings = settings;
    this.sessions = sessions;
    this.stripes = stripes;
    this.requests = requests;
    this.transitions = transitions;
    this.acquireProtocol = acquireProtocol;
    this.releaseProtocol = releaseProtocol;
    this.lossProtocol = lossProtocol;
  }

  void opened(LiveSession session) {
    hasOpened = true;
    sessions.opened(session);
    unfitSince = null;
    for (Claim claim : sessions.takeUnsent()) {
      Stripe stripe = stripes.of(claim.name());
      stripe.lock();
      try {
        if (claim.phase() == ClaimPhase.UNSENT) {
          requests.begin(stripe, claim);
        }
      } finally {
        stripe.unlock();
      }
    }
  }

  void openFailed(Throwable cause) {
    StoreUnfitException unfit = stillUnfit(cause);
    sessions.keepUnsent(claim -> waitsOn(claim, cause, unfit));
  }

  private boolean waitsOn(Claim claim, Throwable cause, @Nullable StoreUnfitException unfit) {
    Stripe stripe = stripes.of(claim.name());
    stripe.lock();
    try {
      if (claim.phase() == ClaimPhase.UNSENT && unfit != null) {
        transitions.fail(stripe, claim, unfit);
      } else if (claim.phase() == ClaimPhase.UNSENT) {
        acquireProtocol.openFailed(stripe, claim, cause);
      }
      return claim.phase() == ClaimPhase.UNSENT;
    } finally {
      stripe.unlock();
    }
  }

  /** The reason to fail waits for this store; null if it may be fit again soon. */
  private @Nullable StoreUnfitException stillUnfit(Throwable cause) {
    StoreUnfitException unfit = StoreOutage.unfit(cause);
    if (unfit == null) {
      unfitSince = null;
      return null;
    }
    Long known = unfitSince;
    long since = known == null ? settings.now() : known;
    unfitSince = since;
    boolean failsOver = hasOpened && settings.now() - since < AcquireProtocol.FAILOVER_NANOS;
    return failsOver ? null : unfit;
  }

  void notification(LiveSession session, SessionNotification sessionNotification) {
    AttemptId attempt = sessionNotification.attempt();
    if (!attempt.session().equals(session.id())) {
      return;
    }
    Stripe stripe = stripes.of(sessionNotification.name());
    stripe.lock();
    try {
      Claim claim = stripe.find(sessionNotification.name(), attempt);
      if (claim == null
          && (sessionNotification instanceof SessionNotification.MayBeFree
              || sessionNotification instanceof SessionNotification.OuterLost)) {
        return;
      } else if (claim == null) {
        PendingRelease pendingRelease = stripe.endings().get(attempt);
        if (pendingRelease == null) {
          releaseProtocol.endUnknown(stripe, sessionNotification.name(), attempt);
        } else if (!(sessionNotification instanceof SessionNotification.HoldEnded)) {
          pendingRelease.wanted();
        }
      } else if (sessionNotification instanceof SessionNotification.HoldGranted granted) {
        pushed(stripe, claim, session, granted);
      } else if (sessionNotification instanceof SessionNotification.Contended) {
        transitions.wanted(stripe, claim);
      } else if (sessionNotification instanceof SessionNotification.HoldEnded holdEnded) {
        gone(stripe, claim, holdEnded);
      } else if (sessionNotification instanceof SessionNotification.OuterLost) {
        outerLost(stripe, claim);
      } else if (sessionNotification instanceof SessionNotification.MayBeFree
          && claim.phase() == ClaimPhase.ASKED) {
        requests.pollNow(stripe, claim);
      }
    } finally {
      stripe.unlock();
    }
  }

  private void pushed(
      Stripe stripe, Claim claim, LiveSession session, SessionNotification.HoldGranted granted) {
    if (claim.phase() != ClaimPhase.ASKED) {
      return;
    }
    long inFlight = settings.inFlightNanos();
    boolean timed = granted.timed() || claim.terms().atMost() != null;
    if (timed || session.mayBeOutdated(settings.now(), inFlight)) {
      // The rest of its at-most time needs an answer whose sending time is known. Only such an
      // answer cannot come from a demoted primary.
      requests.pollNow(stripe, claim);
    } else {
      transitions.held(stripe, claim, session, granted.token(), granted.tokens(), granted.wanted());
    }
  }

  private void gone(Stripe stripe, Claim claim, SessionNotification.HoldEnded holdEnded) {
    if (claim.phase() == ClaimPhase.HELD
        && holdEnded.how() == Reply.EndReason.EVICTED
        && claim.holder() != null) {
      lossProtocol.loseEvicted(stripe, claim);
      keepShut(stripe, claim);
    } else if (claim.phase() == ClaimPhase.HELD) {
      switch (holdEnded.how()) {
        case EVICTED -> {} // No lease of this process.
        case EXPIRED -> lossProtocol.loseAtMost(stripe, claim);
        case TAKEN ->
            lossProtocol.lose(
                stripe, claim, LeaseEnd.NOT_RENEWED, "the store took the session for dead");
        default -> lossProtocol.lose(stripe, claim, LeaseEnd.FORGOTTEN, "the store ended it");
      }
      transitions.release(stripe, claim);
    } else if (claim.phase() == ClaimPhase.ASKED && holdEnded.how() == Reply.EndReason.EVICTED) {
      transitions.evicted(stripe, claim);
    } else if (claim.phase() == ClaimPhase.ASKED) {
      // Its turn came and passed before this process knew of it.
      transitions.discardLateGrant(stripe, claim, holdEnded.how() == Reply.EndReason.EXPIRED);
    }
  }

  /** Keeps a lock shut in the store until the holder has stopped and closed its lost lease. */
  private void keepShut(Stripe stripe, Claim claim) {
    claim.isolate();
    requests.moveWaiters(stripe, claim);
  }

  private void outerLost(Stripe stripe, Claim claim) {
    if (claim.phase() == ClaimPhase.HELD && claim.holder() != null) {
      lossProtocol.loseOuter(stripe, claim);
      keepShut(stripe, claim);
    } else if (claim.phase() == ClaimPhase.HELD) {
      transitions.release(stripe, claim);
    }
  }

  void onReconnected(LiveSession session) {
    stripes.forEach(
        stripe -> {
          for (Claim claim : stripe.claimsOf(session)) {
            if (claim.phase() == ClaimPhase.ASKED && claim.isQueued()) {
              requests.pollUnlessResting(stripe, claim);
            }
          }
        });
  }

  void lost(LiveSession session, String reason) {
    log.debug("Session {} in store {} was lost: {}.", session.id(), settings.storeName(), reason);
    LeaseEnd end = session.isOverdue() ? LeaseEnd.NOT_RENEWED : LeaseEnd.FORGOTTEN;
    int leases = stripes.sum(stripe -> lost(stripe, session, end, reason));
    sessions.lost(session, leases, reason);
  }

  /** Returns the number of leases lost. */
  private int lost(Stripe stripe, LiveSession session, LeaseEnd end, String reason) {
    int leases = 0;
    for (Claim claim : stripe.claimsOf(session)) {
      if (claim.phase() == ClaimPhase.HELD) {
        leases += claim.holder() != null && claim.holder().isOpen() ? 1 : 0;
        lossProtocol.lose(stripe, claim, end, reason);
      }
      if (claim.head() == null) {
        transitions.discard(stripe, claim);
      } else {
        requests.begin(stripe, claim);
      }
    }
    for (PendingRelease pendingRelease : List.copyOf(stripe.endings().values())) {
      if (pendingRelease.session() == session) {
        releaseProtocol.forget(stripe, pendingRelease);
      }
    }
    return leases;
  }
}
