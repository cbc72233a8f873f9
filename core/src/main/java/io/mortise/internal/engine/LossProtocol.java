package io.mortise.internal.engine;

import io.mortise.Lease;
import io.mortise.LeaseInDoubtException;
import io.mortise.LeaseLostException;
import io.mortise.LockException;
import io.mortise.event.LeaseEnd;
import io.mortise.internal.engine.state.Claim;
import io.mortise.internal.engine.state.ClaimEffect;
import io.mortise.internal.engine.state.EngineSettings;
import io.mortise.internal.engine.state.LeaseImpl;
import io.mortise.internal.engine.state.PendingRelease;
import io.mortise.internal.engine.state.Stripe;
import io.mortise.internal.engine.state.StripeTable;
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
 * Ends lost leases: reports them to {@link EngineEvents}, to their listeners and to callers of
 * their methods. Listeners run with no lock held.
 */
final class LossProtocol {
  /** The logger of the engine, whose name users know. */
  private static final Logger log = LoggerFactory.getLogger("io.mortise.internal.engine.Engine");

  private static final String AT_MOST_OVER = "its at-most time is over";
  private static final String EVICTED = "an operator evicted it";

  private final EngineSettings settings;
  private final EngineEvents events;
  private final StripeTable stripes;

  LossProtocol(EngineSettings settings, EngineEvents events, StripeTable stripes) {
    this.settings = settings;
    this.events = events;
    this.stripes = stripes;
  }

  /** Called under the stripe's lock: the claim's lease, if any, is lost. */
  void lose(Stripe stripe, Claim claim, LeaseEnd end, String why) {
    lose(stripe, claim, end, why, overlap(), Level.ERROR);
  }

  /** As {@link #lose(Stripe, Claim, LeaseEnd, String)}, at the end of its at-most time. */
  void loseAtMost(Stripe stripe, Claim claim) {
    lose(stripe, claim, LeaseEnd.AT_MOST, AT_MOST_OVER, overlap(), Level.WARN);
  }

  /**
   * Handles the eviction of the claim's lease, if any. It stays the holder until it is closed:
   * until then the store keeps the lock shut.
   */
  void loseEvicted(Stripe stripe, Claim claim) {
    lose(
        stripe,
        claim.holder(),
        LeaseEnd.EVICTED,
        EVICTED,
        "With CLOSE the lock stays shut until this lease is closed, and nobody overlaps; with BREAK"
            + " the next holder may have it already.",
        Level.WARN);
  }

  /**
   * The outer lock of the claim's lease was lost; the lease stays the holder until it is closed.
   */
  void loseOuter(Stripe stripe, Claim claim) {
    lose(
        stripe,
        claim.holder(),
        LeaseEnd.OUTER_LOST,
        "its outer lock (alsoHolding) was lost",
        overlap(),
        Level.ERROR);
  }

  /** As {@link #lose(Stripe, Claim, LeaseEnd, String)}, if its time ended before its timer ran. */
  void loseLate(Stripe stripe, Claim claim, LiveSession session) {
    lose(stripe, claim, lateEnd(session), lateReason(session));
  }

  /** As {@link #lose(Stripe, Claim, LeaseEnd, String)}, when its client is being closed. */
  void loseClosed(Stripe stripe, Claim claim) {
    lose(stripe, claim, LeaseEnd.CLIENT_CLOSED, "its client was closed", overlap(), null);
  }

  /**
   * The loss known only from the answer to the lease's release; null if there is none: it was
   * released, or the session lives and no event told that the hold had ended.
   *
   * @param forgotten whether the store did not know the hold any more
   */
  @Nullable LeaseLostException lossBeforeRelease(
      LeaseImpl lease, Reply.EndReason how, boolean forgotten) {
    LeaseEnd end = endBeforeRelease(how, forgotten);
    return end == null
        ? null
        : lostBefore(
            lease,
            new LeaseLostException(
                String.format(
                    "Lease on lock '%s' was lost before its release reached the store: %s"
                        + " (store=%s, token=%s). %s",
                    lease.lockName(),
                    reasonBeforeRelease(end),
                    settings.storeName(),
                    lease.tokenText(),
                    overlapBeforeRelease(end)),
                end));
  }

  /** Called under the stripe's lock: logs that loss, as no caller waits for it any more. */
  void reportBeforeRelease(Stripe stripe, PendingRelease pendingRelease, Reply.EndReason how) {
    LeaseEnd end = endBeforeRelease(how, pendingRelease.isForgotten());
    if (end != null) {
      String why = "before its release reached the store, " + reasonBeforeRelease(end);
      Level level = end == LeaseEnd.EVICTED || end == LeaseEnd.AT_MOST ? Level.WARN : Level.ERROR;
      String token = settings.hasTokens() ? Long.toString(pendingRelease.token()) : "none";
      stripe.emit(
          new ClaimEffect.NotifyListeners(
              () ->
                  events.logLoss(
                      pendingRelease.name(),
                      token,
                      settings.storeName(),
                      why,
                      overlapBeforeRelease(end),
                      level)));
    }
  }

  private static @Nullable LeaseEnd endBeforeRelease(Reply.EndReason how, boolean forgotten) {
    if (forgotten) {
      return LeaseEnd.FORGOTTEN;
    }
    return switch (how) {
      case EVICTED -> LeaseEnd.EVICTED;
      case EXPIRED -> LeaseEnd.AT_MOST;
      case TAKEN -> LeaseEnd.NOT_RENEWED;
      default -> null;
    };
  }

  private static String reasonBeforeRelease(LeaseEnd end) {
    return switch (end) {
      case EVICTED -> EVICTED;
      case AT_MOST -> "its at-most time was over";
      case FORGOTTEN ->
          "the store no longer knew it, since it was restarted or another server took over";
      default -> "the store took its session for dead";
    };
  }

  private String overlapBeforeRelease(LeaseEnd end) {
    return end == LeaseEnd.EVICTED
        ? "With CLOSE the lock was shut until this release, and nobody overlaps; with BREAK the next"
            + " holder may have it already."
        : overlap();
  }

  /** Records and returns the loss of a lease that its holder believed valid at the release. */
  private LeaseLostException lostBefore(LeaseImpl lease, LeaseLostException loss) {
    Stripe stripe = stripes.of(lease.lockName());
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
        + (settings.hasTokens() ? " with this token." : ".");
  }

  /**
   * Called under the stripe's lock: the claim's lease, if any, is lost.
   *
   * @param so the consequence for work done under it
   * @param level of the line in the log; null for none
   */
  private void lose(
      Stripe stripe, Claim claim, LeaseEnd end, String why, String so, @Nullable Level level) {
    LeaseImpl lease = claim.holder();
    claim.free();
    lose(stripe, lease, end, why, so, level);
  }

  private void lose(
      Stripe stripe,
      @Nullable LeaseImpl lease,
      LeaseEnd end,
      String why,
      String so,
      @Nullable Level level) {
    if (lease == null || !lease.isOpen()) {
      return;
    }
    LeaseLostException loss =
        new LeaseLostException(
            String.format(
                "Lease on lock '%s' was lost: %s (store=%s, token=%s). %s",
                lease.lockName(), why, settings.storeName(), lease.tokenText(), so),
            end);
    List<Consumer<? super LeaseLostException>> listeners = lease.lost(loss);
    events.leaseLost(stripe, lease, end, why, so, level);
    stripe.emit(
        new ClaimEffect.NotifyListeners(() -> listeners.forEach(listener -> call(listener, loss))));
  }

  /** Whether the lease's own time is over, and not only the validity below it. */
  static boolean isAtMostOver(Validity validity) {
    return validity instanceof Validity.Capped capped && capped.isAtMostOver();
  }

  /** The kind of end of a lease whose loss is seen before its timer ran. */
  private static LeaseEnd lateEnd(LiveSession session) {
    boolean forgotten = session.lostReason() != null && !session.isOverdue();
    return forgotten ? LeaseEnd.FORGOTTEN : LeaseEnd.NOT_RENEWED;
  }

  /** The reason of such an end. */
  private static String lateReason(LiveSession session) {
    String known = session.lostReason();
    if (known != null) {
      return known;
    }
    String pause = session.pauseText();
    return "it was not renewed in time" + (pause.isEmpty() ? "" : "; " + pause);
  }

  private void call(Consumer<? super LeaseLostException> listener, LeaseLostException loss) {
    settings
        .env()
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
    Stripe stripe = stripes.of(lease.lockName());
    stripe.lock();
    try {
      LeaseLostException loss = lease.lossOrNull();
      if (loss != null) {
        stripe.emit(new ClaimEffect.NotifyListeners(() -> call(listener, loss)));
      } else if (lease.isOpen()) {
        lease.addListener(listener);
      }
    } finally {
      stripe.unlock();
    }
  }

  void forget(LeaseImpl lease, Consumer<? super LeaseLostException> listener) {
    Stripe stripe = stripes.of(lease.lockName());
    stripe.lock();
    try {
      lease.removeListener(listener);
    } finally {
      stripe.unlock();
    }
  }

  /** The reason why a lease is not valid: its loss, or the doubt about it. */
  LockException invalid(LeaseImpl lease) {
    if (lease.state() == Lease.State.LOST) {
      return loss(lease);
    }
    // The lease is in doubt, or was confirmed since the caller's check.
    return new LeaseInDoubtException(
        String.format(
            "Lease on lock '%s' is in doubt: the store was restarted or another server took over, and it has not"
                + " confirmed the hold yet (store=%s, token=%s). It is valid again with the same token, or lost, by"
                + " its deadline.",
            lease.lockName(), settings.storeName(), lease.tokenText()));
  }

  /** The loss of a lease that is lost, or whose time is over although its timer has not run yet. */
  LeaseLostException loss(LeaseImpl lease) {
    Stripe stripe = stripes.of(lease.lockName());
    stripe.lock();
    try {
      LeaseLostException loss = lease.lossOrNull();
      if (loss != null) {
        return loss;
      }
      boolean atMostOver = isAtMostOver(lease.validity());
      return new LeaseLostException(
          String.format(
              "Lease on lock '%s' was lost: %s (store=%s, token=%s).",
              lease.lockName(),
              atMostOver ? AT_MOST_OVER : lateReason(lease.validity().session()),
              settings.storeName(),
              lease.tokenText()),
          atMostOver ? LeaseEnd.AT_MOST : lateEnd(lease.validity().session()));
    } finally {
      stripe.unlock();
    }
  }
}
