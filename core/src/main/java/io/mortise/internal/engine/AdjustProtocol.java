package io.mortise.internal.engine;

import io.mortise.HoldTerms;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.StoreUnavailableException;
import io.mortise.UnsupportedByStoreException;
import io.mortise.event.LeaseEnd;
import io.mortise.internal.engine.state.Claim;
import io.mortise.internal.engine.state.Claim.ClaimPhase;
import io.mortise.internal.engine.state.ClaimEffect;
import io.mortise.internal.engine.state.EngineSettings;
import io.mortise.internal.engine.state.LeaseImpl;
import io.mortise.internal.engine.state.SentRequest;
import io.mortise.internal.engine.state.Stripe;
import io.mortise.internal.engine.state.StripeTable;
import io.mortise.internal.session.LiveSession;
import io.mortise.internal.session.Validity;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Changes to a hold during its lease. Each blocks for one round trip, or the store's timeout. */
final class AdjustProtocol {
  private final EngineSettings settings;
  private final StripeTable stripes;
  private final ClaimRequests requests;
  private final ClaimTransitions transitions;
  private final LossProtocol lossProtocol;

  AdjustProtocol(
      EngineSettings settings,
      StripeTable stripes,
      ClaimRequests requests,
      ClaimTransitions transitions,
      LossProtocol lossProtocol) {
    this.settings = settings;
    this.stripes = stripes;
    this.requests = requests;
    this.transitions = transitions;
    this.lossProtocol = lossProtocol;
  }

  void extend(LeaseImpl lease, Duration atMost) {
    checkInTime(lease, adjust(lease, null, new HoldTerms(atMost, null, "")));
  }

  void keepShut(LeaseImpl lease, Duration atLeast) {
    checkInTime(lease, adjust(lease, null, new HoldTerms(null, atLeast, "")));
  }

  void downgrade(LeaseImpl lease) {
    if (canDowngrade(lease)) {
      checkInTime(lease, adjust(lease, Mode.SHARED, HoldTerms.NONE));
    }
  }

  CompletableFuture<Void> extendAsync(LeaseImpl lease, Duration atMost) {
    return adjust(lease, null, new HoldTerms(atMost, null, ""))
        .thenAccept(reply -> check(lease, reply));
  }

  CompletableFuture<Void> keepShutAsync(LeaseImpl lease, Duration atLeast) {
    return adjust(lease, null, new HoldTerms(null, atLeast, ""))
        .thenAccept(reply -> check(lease, reply));
  }

  CompletableFuture<Void> downgradeAsync(LeaseImpl lease) {
    return canDowngrade(lease)
        ? adjust(lease, Mode.SHARED, HoldTerms.NONE).thenAccept(reply -> check(lease, reply))
        : CompletableFuture.completedFuture(null);
  }

  private boolean canDowngrade(LeaseImpl lease) {
    Mode mode = mode(lease);
    if (mode != null && mode.capacity() != Mode.SHARERS) {
      throw new IllegalStateException(
          "Lock '"
              + lease.lockName()
              + "' is a semaphore, which has no shared side to downgrade to.");
    }
    return mode == null || !mode.equals(Mode.SHARED);
  }

  /** The lease's share of the lock; null if it no longer holds. */
  private @Nullable Mode mode(LeaseImpl lease) {
    Stripe stripe = stripes.of(lease.lockName());
    stripe.lock();
    try {
      Claim claim = stripe.heldBy(lease);
      return claim == null ? null : claim.mode();
    } finally {
      stripe.unlock();
    }
  }

  private CompletableFuture<Reply> adjust(LeaseImpl lease, @Nullable Mode to, HoldTerms terms) {
    lease.ensureValid();
    Stripe stripe = stripes.of(lease.lockName());
    CompletableFuture<Reply> answer = new CompletableFuture<>();
    stripe.lock();
    try {
      Claim claim = stripe.heldBy(lease);
      if (claim == null || !lease.isOpen()) {
        throw lossProtocol.loss(lease);
      }
      LiveSession session = claim.openSession();
      AttemptId attempt = claim.attempt();
      Mode mode = to == null ? claim.mode() : to;
      // The hold's mode now differs from that of its waiters: it is not passed on, but released.
      claim.isolate();
      SentRequest sent = SentRequest.now(session, attempt, settings.now());
      Validity before = lease.validity();
      boolean capped = terms.atMost() != null && settings.rules().expectsStragglers();
      Validity meanwhile = capped ? shortened(session, before, sent, terms) : before;
      hang(stripe, claim, lease, meanwhile);
      PendingAdjust pendingAdjust =
          new PendingAdjust(sent, mode, terms.atMost(), before, meanwhile);
      stripe.emit(
          new ClaimEffect.Send(
              session,
              new Request.Adjust(claim.name(), attempt, mode, settings.sent(terms), 0, 0),
              false,
              reply -> {
                adjusted(stripe, claim, lease, pendingAdjust, reply);
                stripe.emit(new ClaimEffect.NotifyListeners(() -> answer.complete(reply)));
              }));
    } finally {
      stripe.unlock();
    }
    return answer;
  }

  /** A change in flight: the validity of the lease before it, and until its answer. */
  private record PendingAdjust(
      SentRequest sent,
      Mode mode,
      @Nullable Duration atMost,
      Validity before,
      Validity meanwhile) {}

  /**
   * The validity while an at-most time is in flight. From its sending on, a longer one cannot be
   * relied upon, whether or not an answer comes. Nor can this one, as long as a shorter one may
   * still be in flight.
   */
  private Validity shortened(
      LiveSession session, Validity before, SentRequest sent, HoldTerms terms) {
    long nanos = settings.minusSafetyMargin(Objects.requireNonNull(terms.atMost()));
    long deadline = sent.at() + nanos;
    if (before instanceof Validity.Capped capped) {
      Validity.RecentAtMost recent = capped.shortest();
      long inFlight = settings.inFlightNanos();
      if (recent != null && sent.at() - recent.sentAt() - inFlight <= 0) {
        nanos = Math.min(nanos, recent.nanos());
        deadline = sent.at() + nanos;
      }
      long end = capped.deadline() - (sent.suspendedNanos() - capped.suspendedNanos());
      deadline = end - deadline < 0 ? end : deadline;
    }
    return new Validity.Capped(
        session,
        whole(before),
        deadline,
        sent.suspendedNanos(),
        new Validity.RecentAtMost(sent.at(), nanos));
  }

  private static Validity whole(Validity validity) {
    return validity instanceof Validity.Capped capped ? capped.whole() : validity;
  }

  private void hang(Stripe stripe, Claim claim, LeaseImpl lease, Validity validity) {
    // A lease in doubt stays so until the whole hold is confirmed, with its times.
    if (lease.validity() != validity && !(lease.validity() instanceof Validity.Unconfirmed)) {
      lease.validity(validity);
      transitions.watch(stripe, claim, validity);
    }
  }

  private void adjusted(
      Stripe stripe, Claim claim, LeaseImpl lease, PendingAdjust pendingAdjust, Reply reply) {
    if (claim.phase() != ClaimPhase.HELD
        || !claim.isAttempt(pendingAdjust.sent().attempt())
        || claim.holder() != lease) {
      return;
    }
    boolean undone =
        reply instanceof Reply.Refused
            || (reply instanceof Reply.Failed failed && !failed.mayHaveRun());
    if (undone && lease.validity() == pendingAdjust.meanwhile()) {
      hang(stripe, claim, lease, pendingAdjust.before());
    }
    if (reply instanceof Reply.Granted granted) {
      granted(stripe, claim, lease, pendingAdjust, granted);
    } else if (reply instanceof Reply.Refused refused
        && refused.why() == Reply.RefusalReason.NOT_HELD) {
      transitions.loseForgotten(stripe, claim, "the store no longer knew it");
    } else if (reply instanceof Reply.Refused refused
        && refused.why() == Reply.RefusalReason.SESSION_GONE) {
      stripe.emit(new ClaimEffect.DropSession(claim.openSession()));
    }
  }

  private void granted(
      Stripe stripe,
      Claim claim,
      LeaseImpl lease,
      PendingAdjust pendingAdjust,
      Reply.Granted granted) {
    claim.narrowed(pendingAdjust.mode());
    Duration atMost = EngineSettings.atMostLeft(granted, pendingAdjust.atMost());
    if (atMost != null) {
      Validity.RecentAtMost recentAtMost =
          lease.validity() instanceof Validity.Capped capped ? capped.shortest() : null;
      hang(
          stripe,
          claim,
          lease,
          transitions.timed(
              claim.openSession(),
              whole(lease.validity()),
              pendingAdjust.sent(),
              atMost,
              recentAtMost));
    }
    requests.moveWaiters(stripe, claim);
  }

  /** Blocks. An answer that comes later still counts: see {@link #adjusted}. */
  private void checkInTime(LeaseImpl lease, CompletableFuture<Reply> answer) {
    long most = settings.tryNanos();
    try {
      check(lease, answer.orTimeout(most, TimeUnit.NANOSECONDS).join());
    } catch (CompletionException e) {
      throw settings.unavailable(lease.lockName(), EngineSettings.noAnswer("within", most));
    }
  }

  private void check(LeaseImpl lease, Reply reply) {
    if (reply instanceof Reply.Refused refused) {
      switch (refused.why()) {
        case UNSUPPORTED -> throw new UnsupportedByStoreException(refused.message());
        case STORE_FULL, TOKENS_USED_UP -> throw new StoreUnavailableException(refused.message());
        default ->
            throw new LeaseLostException(
                "Lease on lock '"
                    + lease.lockName()
                    + "' could not be changed: it was lost. "
                    + refused.message(),
                lease.state() == Lease.State.LOST
                    ? lossProtocol.loss(lease).end()
                    : LeaseEnd.FORGOTTEN);
      }
    }
    if (reply instanceof Reply.Failed failed) {
      throw settings.unavailable(lease.lockName(), failed.cause());
    }
  }
}
