package io.mortise.internal.engine;

import io.mortise.LeaseLostException;
import io.mortise.LockException;
import io.mortise.internal.engine.state.Claim;
import io.mortise.internal.engine.state.Claim.ClaimPhase;
import io.mortise.internal.engine.state.EngineSettings;
import io.mortise.internal.engine.state.IdleClaims.StickyClaim;
import io.mortise.internal.engine.state.LeaseImpl;
import io.mortise.internal.engine.state.PendingRelease;
import io.mortise.internal.engine.state.Stripe;
import io.mortise.internal.engine.state.StripeTable;
import io.mortise.internal.event.LeaseTrace;
import io.mortise.internal.session.LiveSession;
import io.mortise.internal.session.Validity;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The operations of leases on the engine. Takes the stripe's lock. */
final class LeaseOperations implements LeaseImpl.Operations {
  private final EngineSettings settings;
  private final StripeTable stripes;
  private final ClaimTransitions transitions;
  private final StickyProtocol stickyProtocol;
  private final IdleExpiry idleExpiry;
  private final CallBackPoll callBackPoll;
  private final LossProtocol lossProtocol;
  private final ReleaseProtocol releaseProtocol;
  private final AdjustProtocol adjustProtocol;

  LeaseOperations(
      EngineSettings settings,
      StripeTable stripes,
      ClaimTransitions transitions,
      StickyProtocol stickyProtocol,
      IdleExpiry idleExpiry,
      CallBackPoll callBackPoll,
      LossProtocol lossProtocol,
      ReleaseProtocol releaseProtocol,
      AdjustProtocol adjustProtocol) {
    this.settings = settings;
    this.stripes = stripes;
    this.transitions = transitions;
    this.stickyProtocol = stickyProtocol;
    this.idleExpiry = idleExpiry;
    this.callBackPoll = callBackPoll;
    this.lossProtocol = lossProtocol;
    this.releaseProtocol = releaseProtocol;
    this.adjustProtocol = adjustProtocol;
  }

  @Override
  public EngineSettings settings() {
    return settings;
  }

  // ---- Looking ----

  @Override
  public LockException invalid(LeaseImpl lease) {
    return lossProtocol.invalid(lease);
  }

  @Override
  public LeaseLostException loss(LeaseImpl lease) {
    return lossProtocol.loss(lease);
  }

  @Override
  public void onLost(LeaseImpl lease, Consumer<? super LeaseLostException> listener) {
    lossProtocol.onLost(lease, listener);
  }

  @Override
  public void forget(LeaseImpl lease, Consumer<? super LeaseLostException> listener) {
    lossProtocol.forget(lease, listener);
  }

  @Override
  public @Nullable AttemptId fencedAttempt(LeaseImpl lease) {
    Stripe stripe = stripes.of(lease.lockName());
    stripe.lock();
    try {
      Claim claim = stripe.heldBy(lease);
      if (claim == null) {
        return null;
      } else if (!claim.mode().equals(Mode.EXCLUSIVE)) {
        throw new IllegalStateException(
            String.format(
                "The lease on lock '%s' is shared or one of permits: others hold at the same time, and tokens do not"
                    + " order them. Fence with an exclusive lease.",
                claim.name()));
      }
      return lease.isOpen() ? claim.attempt() : null;
    } finally {
      stripe.unlock();
    }
  }

  // ---- Changing ----

  @Override
  public void extend(LeaseImpl lease, Duration atMost) {
    adjustProtocol.extend(lease, atMost);
  }

  @Override
  public void keepShut(LeaseImpl lease, Duration atLeast) {
    adjustProtocol.keepShut(lease, atLeast);
  }

  @Override
  public void downgrade(LeaseImpl lease) {
    adjustProtocol.downgrade(lease);
  }

  // ---- Releasing ----

  /**
   * Releases a lease. Returns the pending release to wait for; null if there is none, because the
   * lock was passed on or the hold had ended.
   *
   * @param quietly whether no caller will wait for that end
   */
  @Override
  public @Nullable PendingRelease release(LeaseImpl lease, boolean quietly) {
    Stripe stripe = stripes.of(lease.lockName());
    stripe.lock();
    try {
      Claim claim = stripe.heldBy(lease);
      if (claim == null || !lease.isOpen()) {
        return null;
      }
      PendingRelease pendingRelease = release(stripe, claim, lease, quietly);
      if (pendingRelease != null) {
        pendingRelease.leased(lease.rawToken());
      }
      return pendingRelease;
    } finally {
      stripe.unlock();
    }
  }

  private @Nullable PendingRelease release(
      Stripe stripe, Claim claim, LeaseImpl lease, boolean quietly) {
    Validity.Unconfirmed doubt =
        lease.validity() instanceof Validity.Unconfirmed unconfirmed ? unconfirmed : null;
    Validity believed = doubt == null ? lease.validity() : doubt.before();
    // The clock is read last, as everywhere: a thread paused in between sees less remaining time,
    // not more.
    long until = believed.validUntil();
    long now = settings.now();
    if (until - now <= 0) {
      loseLate(stripe, claim, believed);
      return null;
    }
    lease.released();
    LeaseTrace trace = lease.trace();
    if (trace != null) {
      trace.released(now);
    }
    claim.free();
    if (doubt != null) {
      // The store's answer to this shows whether it still knew the hold.
      return transitions.release(stripe, claim);
    } else if (claim.head() != null) {
      return transitions.handOff(stripe, claim);
    }
    StickyClaim idle = stickyProtocol.keep(stripe, claim, lease);
    if (idle == null) {
      return transitions.release(stripe, claim, quietly);
    }
    idleExpiry.checkAt(idle.idleUntil());
    callBackPoll.begin(idle.openSession());
    return null;
  }

  /** The timer has not run yet, but the lease is over, and must not be passed on. */
  private void loseLate(Stripe stripe, Claim claim, Validity believed) {
    LiveSession session = claim.openSession();
    if (LossProtocol.isAtMostOver(believed)) {
      lossProtocol.loseAtMost(stripe, claim);
    } else {
      lossProtocol.loseLate(stripe, claim, session);
    }
    if (!session.hasEnded()) {
      transitions.release(stripe, claim);
    }
  }

  @Override
  public boolean settle(LeaseImpl lease) {
    Stripe stripe = stripes.of(lease.lockName());
    stripe.lock();
    try {
      boolean first = lease.takeReport();
      Claim claim = stripe.heldBy(lease);
      if (claim != null && claim.phase() == ClaimPhase.HELD) {
        claim.free();
        transitions.release(stripe, claim);
      }
      return first;
    } finally {
      stripe.unlock();
    }
  }

  @Override
  public void await(PendingRelease pendingRelease, long deadline) {
    releaseProtocol.await(pendingRelease, deadline);
  }

  @Override
  public void giveUp(PendingRelease pendingRelease) {
    releaseProtocol.giveUp(pendingRelease);
  }

  @Override
  public CompletableFuture<Void> future(PendingRelease pendingRelease) {
    return releaseProtocol.future(pendingRelease);
  }

  @Override
  public @Nullable LeaseLostException lossBeforeRelease(
      LeaseImpl lease, Reply.EndReason how, boolean forgotten) {
    return lossProtocol.lossBeforeRelease(lease, how, forgotten);
  }
}
