package io.mortise.internal.engine;

import io.mortise.StoreUnfitException;
import io.mortise.internal.engine.Claim.Phase;
import io.mortise.internal.engine.Waiter.State;
import io.mortise.spi.AttemptId;
import io.mortise.spi.News;
import io.mortise.spi.Reply;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Turns what the session keeper tells into changes of claims. Called with no lock held. */
final class SessionEvents implements SessionKeeper.Listener {
  private static final Logger log = LoggerFactory.getLogger(SessionEvents.class);

  /** A store that was fit before may be failing over: so long its waiters are not told. */
  private static final long FAILOVER_NANOS = 2_000_000_000;

  private final Engine engine;

  /** Whether a session was ever open. Guarded by nothing: the keeper calls one after the other. */
  private volatile boolean hasOpened;

  /** Since when no session could be opened because the store is unfit; 0 if that is not so. */
  private volatile long unfitSince;

  SessionEvents(Engine engine) {
    this.engine = engine;
  }

  @Override
  public Engine engine() {
    return engine;
  }

  @Override
  public void opened(LiveSession session) {
    hasOpened = true;
    unfitSince = 0;
    // Those alone that are there now: if this session is lost meanwhile they come back, for the
    // next.
    List<Claim> unsent = new ArrayList<>();
    for (Claim claim = engine.unsent.poll(); claim != null; claim = engine.unsent.poll()) {
      unsent.add(claim);
    }
    for (Claim claim : unsent) {
      Stripe stripe = engine.stripe(claim.name);
      stripe.lock();
      try {
        if (claim.phase() == Phase.UNSENT) {
          engine.asking.begin(stripe, claim);
        }
      } finally {
        stripe.unlock();
      }
    }
  }

  @Override
  public void notOpened(Throwable cause) {
    StoreUnfitException unfit = stillUnfit(cause);
    for (Claim claim : engine.unsent) {
      Stripe stripe = engine.stripe(claim.name);
      stripe.lock();
      try {
        if (claim.phase() == Phase.UNSENT && unfit != null) {
          engine.claims.fail(stripe, claim, unfit);
        } else if (claim.phase() == Phase.UNSENT) {
          claim.trouble(cause);
          engine.asking.dismissTriers(
              stripe, claim, State.FAILED, engine.unavailable(claim.name, cause));
          if (claim.head() == null) {
            engine.claims.discard(stripe, claim);
          }
        }
        if (claim.phase() != Phase.UNSENT) {
          engine.unsent.remove(claim);
        }
      } finally {
        stripe.unlock();
      }
    }
  }

  /** Why nobody needs to wait for this store; null if it may be fit again soon. */
  private @Nullable StoreUnfitException stillUnfit(Throwable cause) {
    StoreUnfitException unfit = Engine.unfit(cause);
    if (unfit == null) {
      unfitSince = 0;
    } else if (unfitSince == 0) {
      unfitSince = engine.env.now() | 1;
    }
    boolean failsOver = hasOpened && engine.env.now() - unfitSince < FAILOVER_NANOS;
    return failsOver ? null : unfit;
  }

  @Override
  public void news(LiveSession session, News news) {
    AttemptId attempt = news.attempt();
    if (!attempt.session().equals(session.id())) {
      return;
    }
    Stripe stripe = engine.stripe(news.name());
    stripe.lock();
    try {
      Claim claim = stripe.find(news.name(), attempt);
      if (claim == null && news instanceof News.MayBeFree) {
        return;
      } else if (claim == null) {
        Ending ending = stripe.endings.get(attempt);
        if (ending == null) {
          engine.endUnknown(stripe, news.name(), attempt);
        } else if (!(news instanceof News.Gone)) {
          ending.wanted = true;
        }
      } else if (news instanceof News.Granted granted) {
        pushed(stripe, claim, session, granted);
      } else if (news instanceof News.Wanted) {
        engine.handOver.wanted(claim);
      } else if (news instanceof News.Gone gone) {
        gone(stripe, claim, gone);
      } else if (news instanceof News.MayBeFree && claim.phase() == Phase.ASKED) {
        engine.asking.askNow(stripe, claim);
      }
    } finally {
      stripe.unlock();
    }
  }

  private void pushed(Stripe stripe, Claim claim, LiveSession session, News.Granted granted) {
    if (claim.phase() != Phase.ASKED) {
      return;
    }
    long inFlight = engine.store.profile().maxInFlight().toNanos();
    if (granted.timed() || session.mayBeOutdated(engine.env.now(), inFlight)) {
      // What is left of its at-most time can only be told by an answer whose question's time is
      // known; and only that is surely not by a server that has lost its office.
      engine.asking.askNow(stripe, claim);
    } else {
      engine.claims.held(
          stripe, claim, session, granted.token(), granted.tokens(), granted.wanted());
    }
  }

  private void gone(Stripe stripe, Claim claim, News.Gone gone) {
    String why =
        switch (gone.how()) {
          case EVICTED -> "an operator ended it";
          case EXPIRED -> "its at-most time is over";
          case TAKEN -> "the store took the session for dead";
          default -> "the store ended it";
        };
    if (claim.phase() == Phase.HELD && gone.how() == Reply.How.EVICTED && claim.holder != null) {
      // The store keeps the lock shut until the holder has stopped and says so by closing its
      // lease.
      LeaseImpl lease = claim.holder;
      engine.lose(stripe, claim, why);
      claim.holder = lease;
      claim.shared = false;
      engine.adjustments.moveWaiters(stripe, claim);
    } else if (claim.phase() == Phase.HELD) {
      engine.lose(stripe, claim, why);
      engine.claims.release(stripe, claim);
    } else if (claim.phase() == Phase.ASKED && gone.how() == Reply.How.EVICTED) {
      engine.claims.evicted(stripe, claim);
    } else if (claim.phase() == Phase.ASKED) {
      // Its turn came and passed before it was heard of.
      engine.claims.tooLate(stripe, claim, gone.how() == Reply.How.EXPIRED);
    }
  }

  @Override
  public void mayHaveMissed(LiveSession session) {
    for (Stripe stripe : engine.stripes) {
      stripe.lock();
      try {
        for (Claim claim : Engine.claimsOf(stripe, session)) {
          if (claim.phase() == Phase.ASKED && claim.isQueued()) {
            engine.asking.askNow(stripe, claim);
          }
        }
      } finally {
        stripe.unlock();
      }
    }
  }

  @Override
  public void inDoubt(LiveSession session) {
    engine.verifying.all(session);
  }

  @Override
  public void lost(LiveSession session, String reason) {
    log.debug("Session {} in store {} was lost: {}.", session.id(), engine.storeName(), reason);
    for (Stripe stripe : engine.stripes) {
      stripe.lock();
      try {
        for (Claim claim : Engine.claimsOf(stripe, session)) {
          if (claim.phase() == Phase.HELD) {
            engine.lose(stripe, claim, reason);
          }
          if (claim.head() == null) {
            engine.claims.discard(stripe, claim);
          } else {
            engine.asking.begin(stripe, claim);
          }
        }
        for (Ending ending : List.copyOf(stripe.endings.values())) {
          if (ending.session == session) {
            engine.endings.forget(stripe, ending);
          }
        }
      } finally {
        stripe.unlock();
      }
    }
    engine.openForUnsent();
  }
}
