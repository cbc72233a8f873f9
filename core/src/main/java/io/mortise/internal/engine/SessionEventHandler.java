package io.mortise.internal.engine;

import io.mortise.StoreUnfitException;
import io.mortise.event.LeaseEnd;
import io.mortise.internal.engine.Claim.ClaimPhase;
import io.mortise.internal.session.LiveSession;
import io.mortise.internal.session.SessionLifecycleListener;
import io.mortise.internal.session.SessionRenewer;
import io.mortise.internal.session.StoreOutage;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.SessionNotification;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Turns the events of the {@link SessionRenewer} into changes of claims. Called with no lock held.
 */
final class SessionEventHandler implements SessionLifecycleListener {
  private static final Logger log = LoggerFactory.getLogger(SessionEventHandler.class);

  /** A store that was fit before may be failing over: so long its waiters are not told. */
  static final long FAILOVER_NANOS = 2_000_000_000;

  private final Engine engine;

  /** Whether a session was ever open. Guarded by nothing: the renewer calls one after the other. */
  private volatile boolean hasOpened;

  /** Since when no session could be opened because the store is unfit; null if that is not so. */
  private volatile @Nullable Long unfitSince;

  SessionEventHandler(Engine engine) {
    this.engine = engine;
  }

  Engine engine() {
    return engine;
  }

  @Override
  public void opened(LiveSession session) {
    hasOpened = true;
    engine.events.sessions().opened(session);
    unfitSince = null;
    for (Claim claim : engine.takeUnsent()) {
      Stripe stripe = engine.stripe(claim.name);
      stripe.lock();
      try {
        if (claim.phase() == ClaimPhase.UNSENT) {
          engine.acquireProtocol.begin(stripe, claim);
        }
      } finally {
        stripe.unlock();
      }
    }
  }

  @Override
  public void openFailed(Throwable cause) {
    StoreUnfitException unfit = stillUnfit(cause);
    engine.keepUnsent(claim -> waitsOn(claim, cause, unfit));
  }

  private boolean waitsOn(Claim claim, Throwable cause, @Nullable StoreUnfitException unfit) {
    Stripe stripe = engine.stripe(claim.name);
    stripe.lock();
    try {
      if (claim.phase() == ClaimPhase.UNSENT && unfit != null) {
        engine.transitions.fail(stripe, claim, unfit);
      } else if (claim.phase() == ClaimPhase.UNSENT) {
        engine.acquireProtocol.openFailed(stripe, claim, cause);
      }
      return claim.phase() == ClaimPhase.UNSENT;
    } finally {
      stripe.unlock();
    }
  }

  /** Why nobody needs to wait for this store; null if it may be fit again soon. */
  private @Nullable StoreUnfitException stillUnfit(Throwable cause) {
    StoreUnfitException unfit = StoreOutage.unfit(cause);
    if (unfit == null) {
      unfitSince = null;
      return null;
    }
    Long known = unfitSince;
    long since = known == null ? engine.env.now() : known;
    unfitSince = since;
    boolean failsOver = hasOpened && engine.env.now() - since < FAILOVER_NANOS;
    return failsOver ? null : unfit;
  }

  @Override
  public void notification(LiveSession session, SessionNotification sessionNotification) {
    AttemptId attempt = sessionNotification.attempt();
    if (!attempt.session().equals(session.id())) {
      return;
    }
    Stripe stripe = engine.stripe(sessionNotification.name());
    stripe.lock();
    try {
      Claim claim = stripe.find(sessionNotification.name(), attempt);
      if (claim == null && sessionNotification instanceof SessionNotification.MayBeFree) {
        return;
      } else if (claim == null) {
        PendingRelease pendingRelease = stripe.endings.get(attempt);
        if (pendingRelease == null) {
          engine.endUnknown(stripe, sessionNotification.name(), attempt);
        } else if (!(sessionNotification instanceof SessionNotification.HoldEnded)) {
          pendingRelease.wanted = true;
        }
      } else if (sessionNotification instanceof SessionNotification.Granted granted) {
        pushed(stripe, claim, session, granted);
      } else if (sessionNotification instanceof SessionNotification.Contended) {
        engine.stickyProtocol.wanted(stripe, claim);
      } else if (sessionNotification instanceof SessionNotification.HoldEnded holdEnded) {
        gone(stripe, claim, holdEnded);
      } else if (sessionNotification instanceof SessionNotification.MayBeFree
          && claim.phase() == ClaimPhase.ASKED) {
        engine.acquireProtocol.pollNow(stripe, claim);
      }
    } finally {
      stripe.unlock();
    }
  }

  private void pushed(
      Stripe stripe, Claim claim, LiveSession session, SessionNotification.Granted granted) {
    if (claim.phase() != ClaimPhase.ASKED) {
      return;
    }
    long inFlight = engine.store.profile().maxInFlight().toNanos();
    if (granted.timed() || session.mayBeOutdated(engine.env.now(), inFlight)) {
      // What is left of its at-most time can only be told by an answer whose question's time is
      // known; and only that cannot be of a demoted primary.
      engine.acquireProtocol.pollNow(stripe, claim);
    } else {
      engine.transitions.held(
          stripe, claim, session, granted.token(), granted.tokens(), granted.wanted());
    }
  }

  private void gone(Stripe stripe, Claim claim, SessionNotification.HoldEnded holdEnded) {
    if (claim.phase() == ClaimPhase.HELD
        && holdEnded.how() == Reply.EndReason.EVICTED
        && claim.holder != null) {
      // The store keeps the lock shut until the holder has stopped and says so by closing its
      // lease.
      LeaseImpl lease = claim.holder;
      engine.lossProtocol.loseEvicted(stripe, claim);
      claim.holder = lease;
      claim.joinable = false;
      engine.adjustProtocol.moveWaiters(stripe, claim);
    } else if (claim.phase() == ClaimPhase.HELD) {
      switch (holdEnded.how()) {
        case EVICTED -> engine.lossProtocol.loseEvicted(stripe, claim);
        case EXPIRED -> engine.lossProtocol.loseAtMost(stripe, claim);
        case TAKEN ->
            engine.lossProtocol.lose(
                stripe, claim, LeaseEnd.NOT_RENEWED, "the store took the session for dead");
        default ->
            engine.lossProtocol.lose(stripe, claim, LeaseEnd.FORGOTTEN, "the store ended it");
      }
      engine.transitions.release(stripe, claim);
    } else if (claim.phase() == ClaimPhase.ASKED && holdEnded.how() == Reply.EndReason.EVICTED) {
      engine.transitions.evicted(stripe, claim);
    } else if (claim.phase() == ClaimPhase.ASKED) {
      // Its turn came and passed before it was heard of.
      engine.transitions.discardLateGrant(
          stripe, claim, holdEnded.how() == Reply.EndReason.EXPIRED);
    }
  }

  @Override
  public void onReconnected(LiveSession session) {
    engine.stripes.forEach(
        stripe -> {
          for (Claim claim : Engine.claimsOf(stripe, session)) {
            QueueProtocol.QueuedClaims queue = claim.queue();
            if (claim.phase() == ClaimPhase.ASKED && queue != null && !queue.isResting(claim)) {
              engine.acquireProtocol.pollNow(stripe, claim);
            }
          }
        });
  }

  @Override
  public void inDoubt(LiveSession session) {
    engine.leaseRevalidator.all(session);
  }

  @Override
  public void lost(LiveSession session, String reason) {
    log.debug("Session {} in store {} was lost: {}.", session.id(), engine.storeName(), reason);
    LeaseEnd end = session.isOverdue() ? LeaseEnd.NOT_RENEWED : LeaseEnd.FORGOTTEN;
    int leases = engine.stripes.sum(stripe -> lost(stripe, session, end, reason));
    engine.events.sessions().lost(session, leases, reason);
    engine.openForUnsent();
  }

  /** Returns how many leases were lost. */
  private int lost(Stripe stripe, LiveSession session, LeaseEnd end, String reason) {
    int leases = 0;
    for (Claim claim : Engine.claimsOf(stripe, session)) {
      if (claim.phase() == ClaimPhase.HELD) {
        leases += claim.holder != null && claim.holder.isOpen() ? 1 : 0;
        engine.lossProtocol.lose(stripe, claim, end, reason);
      }
      if (claim.head() == null) {
        engine.transitions.discard(stripe, claim);
      } else {
        engine.acquireProtocol.begin(stripe, claim);
      }
    }
    for (PendingRelease pendingRelease : List.copyOf(stripe.endings.values())) {
      if (pendingRelease.session == session) {
        engine.releaseProtocol.forget(stripe, pendingRelease);
      }
    }
    return leases;
  }
}
