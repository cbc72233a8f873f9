package io.mortise.internal.engine;

import io.mortise.LeaseLostException;
import io.mortise.event.LeaseEnd;
import io.mortise.internal.engine.Claim.ClaimPhase;
import io.mortise.internal.session.LiveSession;
import io.mortise.internal.session.Validity;
import io.mortise.spi.Reply;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Ends leases that are lost: says so to {@link EngineEvents}, to their listeners and to callers of
 * their methods. Listeners run with no lock held.
 */
final class LossProtocol {
  /** The logger of the engine, by which users know a lost lease. */
  private static final Logger log = LoggerFactory.getLogger(Engine.class);

  private static final String AT_MOST_OVER = "its at-most time is over";
  private static final String EVICTED = "an operator evicted it";

  private final Engine engine;

  LossProtocol(Engine engine) {
    this.engine = engine;
  }

  /** Under the stripe's lock: the claim's lease, if there is one, is lost. */
  void lose(Stripe stripe, Claim claim, LeaseEnd end, String why) {
    lose(stripe, claim, end, why, overlap(), Level.ERROR);
  }

  /**
   * As {@link #lose(Stripe, Claim, LeaseEnd, String)}, when its at-most time is over, as was asked
   * for.
   */
  void loseAtMost(Stripe stripe, Claim claim) {
    lose(stripe, claim, LeaseEnd.AT_MOST, AT_MOST_OVER, overlap(), Level.WARN);
  }

  /** As {@link #lose(Stripe, Claim, LeaseEnd, String)}, when an operator has evicted it. */
  void loseEvicted(Stripe stripe, Claim claim) {
    lose(
        stripe,
        claim,
        LeaseEnd.EVICTED,
        EVICTED,
        "With CLOSE the lock stays shut until this lease is closed, and nobody overlaps; with BREAK"
            + " the next holder may have it already.",
        Level.WARN);
  }

  /**
   * As {@link #lose(Stripe, Claim, LeaseEnd, String)}, when its time ran out before its timer came.
   */
  void loseLate(Stripe stripe, Claim claim, LiveSession session) {
    lose(stripe, claim, LeaseEnd.NOT_RENEWED, lateReason(session));
  }

  /** As {@link #lose(Stripe, Claim, LeaseEnd, String)}, when its client is being closed. */
  void loseClosed(Stripe stripe, Claim claim) {
    lose(stripe, claim, LeaseEnd.CLIENT_CLOSED, "its client was closed", overlap(), null);
  }

  /** The loss that only the answer to the lease's release has told of. */
  LeaseLostException lossBeforeRelease(LeaseImpl lease, Reply.EndReason how) {
    LeaseEnd end =
        switch (how) {
          case EVICTED -> LeaseEnd.EVICTED;
          case EXPIRED -> LeaseEnd.AT_MOST;
          default -> LeaseEnd.NOT_RENEWED;
        };
    String why =
        switch (end) {
          case EVICTED -> EVICTED;
          case AT_MOST -> "its at-most time was over";
          default -> "the store took its session for dead";
        };
    String so =
        end == LeaseEnd.EVICTED
            ? "With CLOSE the lock was shut until this release, and nobody overlaps; with BREAK the"
                + " next holder may have it already."
            : overlap();
    return lostBefore(
        lease,
        new LeaseLostException(
            String.format(
                "Lease on lock '%s' was lost before its release reached the store: %s (store=%s,"
                    + " token=%s). %s",
                lease.name(), why, engine.storeName(), lease.tokenText(), so),
            end));
  }

  /** As {@link #lossBeforeRelease}, if the store did not know the hold any more. */
  LeaseLostException forgottenBeforeRelease(LeaseImpl lease) {
    return lostBefore(
        lease,
        new LeaseLostException(
            String.format(
                "Lease on lock '%s' was lost before its release reached the store, which no longer"
                    + " knew it: it was restarted, or another server took over (store=%s, token=%s)."
                    + " %s",
                lease.name(), engine.storeName(), lease.tokenText(), overlap()),
            LeaseEnd.FORGOTTEN));
  }

  /** Notes and returns the loss of a lease that its holder took for held when it released it. */
  private LeaseLostException lostBefore(LeaseImpl lease, LeaseLostException loss) {
    Stripe stripe = engine.stripe(lease.claim.name);
    stripe.lock();
    try {
      lease.lostBeforeRelease(loss);
    } finally {
      stripe.unlock();
    }
    return loss;
  }

  private String overlap() {
    return "Work done under it may overlap with the next holder's; check what was written"
        + (engine.hasTokens ? " with this token." : ".");
  }

  /**
   * Under the stripe's lock: the claim's lease, if there is one, is lost.
   *
   * @param so what that means for work done under it
   * @param level of the line in the log; null for none
   */
  private void lose(
      Stripe stripe, Claim claim, LeaseEnd end, String why, String so, @Nullable Level level) {
    LeaseImpl lease = claim.holder;
    claim.holder = null;
    if (lease == null || !lease.isOpen()) {
      return;
    }
    LeaseLostException loss =
        new LeaseLostException(
            String.format(
                "Lease on lock '%s' was lost: %s (store=%s, token=%s). %s",
                claim.name, why, engine.storeName(), lease.tokenText(), so),
            end);
    List<Consumer<? super LeaseLostException>> listeners = lease.lost(loss);
    engine.events.leaseLost(stripe, lease, end, why, so, level);
    stripe.afterUnlock(() -> listeners.forEach(listener -> call(listener, loss)));
  }

  /** Whether it is the lease's own time that is over, not that of what keeps it. */
  boolean isAtMostOver(Validity validity) {
    return validity instanceof Validity.Capped capped && capped.isAtMostOver();
  }

  /** Why a lease is over whose time has run out before its timer came. */
  private static String lateReason(@Nullable LiveSession session) {
    String pause = session == null ? "" : session.pauseText();
    return "it was not renewed in time" + (pause.isEmpty() ? "" : "; " + pause);
  }

  private void call(Consumer<? super LeaseLostException> listener, LeaseLostException loss) {
    engine
        .env
        .callbacks()
        .execute(
            () -> {
              try {
                listener.accept(loss);
              } catch (RuntimeException e) {
                log.warn("A listener for the loss of a lease failed.", e);
              }
            });
  }

  void onLost(LeaseImpl lease, Consumer<? super LeaseLostException> listener) {
    Stripe stripe = engine.stripe(lease.claim.name);
    stripe.lock();
    try {
      LeaseLostException loss = lease.lossOrNull();
      if (loss != null) {
        stripe.afterUnlock(() -> call(listener, loss));
      } else if (lease.isOpen()) {
        lease.addListener(listener);
      }
    } finally {
      stripe.unlock();
    }
  }

  void forget(LeaseImpl lease, Consumer<? super LeaseLostException> listener) {
    Stripe stripe = engine.stripe(lease.claim.name);
    stripe.lock();
    try {
      lease.removeListener(listener);
    } finally {
      stripe.unlock();
    }
  }

  /** The loss of a lease that is lost, or whose time is over though its timer has not come yet. */
  LeaseLostException loss(LeaseImpl lease) {
    Stripe stripe = engine.stripe(lease.claim.name);
    stripe.lock();
    try {
      LeaseLostException loss = lease.lossOrNull();
      if (loss != null) {
        return loss;
      }
      boolean inDoubt = lease.validity() instanceof Validity.Unconfirmed;
      boolean atMostOver = isAtMostOver(lease.validity());
      return new LeaseLostException(
          String.format(
              "Lease on lock '%s' %s (store=%s, token=%s).",
              lease.claim.name,
              inDoubt
                  ? "is in doubt: the store was restarted or another server took over, and it has"
                      + " not confirmed it yet"
                  : "was lost: " + (atMostOver ? AT_MOST_OVER : lateReason(lease.claim.session)),
              engine.storeName(),
              lease.tokenText()),
          inDoubt ? LeaseEnd.FORGOTTEN : atMostOver ? LeaseEnd.AT_MOST : LeaseEnd.NOT_RENEWED);
    } finally {
      stripe.unlock();
    }
  }

  /**
   * The holder of a lost lease has stopped.
   *
   * @return whether this call is to report the loss to it; true once
   */
  boolean settle(LeaseImpl lease) {
    Claim claim = lease.claim;
    Stripe stripe = engine.stripe(claim.name);
    stripe.lock();
    try {
      boolean first = lease.takeReport();
      if (claim.holder == lease && claim.phase() == ClaimPhase.HELD) {
        claim.holder = null;
        engine.transitions.release(stripe, claim);
      }
      return first;
    } finally {
      stripe.unlock();
    }
  }
}
