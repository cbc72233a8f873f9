package io.mortise.internal.engine;

import io.mortise.HoldTerms;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.StoreUnavailableException;
import io.mortise.UnsupportedByStoreException;
import io.mortise.event.LeaseEnd;
import io.mortise.internal.engine.Claim.ClaimPhase;
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

/** Changes to a hold while it is held. Each blocks for one round trip, or the store's timeout. */
final class AdjustProtocol {
  private final Engine engine;

  AdjustProtocol(Engine engine) {
    this.engine = engine;
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

  private static boolean canDowngrade(LeaseImpl lease) {
    Mode mode = lease.claim.mode;
    if (mode.capacity() != Mode.SHARERS) {
      throw new IllegalStateException(
          "Lock '"
              + lease.claim.name
              + "' is a semaphore, which has no shared side to downgrade to.");
    }
    return !mode.equals(Mode.SHARED);
  }

  private CompletableFuture<Reply> adjust(LeaseImpl lease, @Nullable Mode to, HoldTerms terms) {
    lease.ensureValid();
    Claim claim = lease.claim;
    Stripe stripe = engine.stripe(claim.name);
    CompletableFuture<Reply> answer = new CompletableFuture<>();
    stripe.lock();
    try {
      if (!lease.isOpen()) {
        throw engine.lossProtocol.loss(lease);
      }
      LiveSession session = Objects.requireNonNull(claim.session);
      AttemptId attempt = session.attempt(claim.number);
      Mode mode = to == null ? claim.mode : to;
      // The hold is no longer like those that wait for it: it is not passed on, but released.
      claim.joinable = false;
      AcquireProtocol.SentRequest sent =
          new AcquireProtocol.SentRequest(
              attempt, engine.env.now(), session.suspendedNanos(), session.incarnationChanges());
      Validity before = lease.validity();
      boolean capped = terms.atMost() != null && engine.env.rules().expectsStragglers();
      Validity meanwhile = capped ? shortened(session, before, sent, terms) : before;
      hang(stripe, lease, meanwhile);
      stripe.send(
          session,
          new Request.Adjust(claim.name, attempt, mode, terms, 0, 0),
          reply -> {
            adjusted(stripe, lease, new PendingAdjust(sent, mode, before, meanwhile), reply);
            answer.complete(reply);
          });
    } finally {
      stripe.unlock();
    }
    return answer;
  }

  /** A change on its way: what the lease hung on before, and what it hangs on until the answer. */
  private record PendingAdjust(
      AcquireProtocol.SentRequest sent, Mode mode, Validity before, Validity meanwhile) {}

  /**
   * From the moment when an at-most time is sent, a longer one cannot be relied upon, whether or
   * not an answer comes. Nor can this one, for as long as a shorter one may still be under way.
   */
  private Validity shortened(
      LiveSession session, Validity before, AcquireProtocol.SentRequest sent, HoldTerms terms) {
    long nanos = engine.transitions.minusSafetyMargin(Objects.requireNonNull(terms.atMost()));
    long deadline = sent.at() + nanos;
    if (before instanceof Validity.Capped capped) {
      Validity.RecentAtMost recent = capped.shortest();
      long inFlight = engine.store.profile().maxInFlight().toNanos();
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

  private void hang(Stripe stripe, LeaseImpl lease, Validity validity) {
    // What is in doubt is so until the hold as a whole is confirmed, with its times.
    if (lease.validity() != validity && !(lease.validity() instanceof Validity.Unconfirmed)) {
      lease.validity(validity);
      engine.transitions.watch(stripe, lease.claim, validity);
    }
  }

  private void adjusted(Stripe stripe, LeaseImpl lease, PendingAdjust pendingAdjust, Reply reply) {
    Claim claim = lease.claim;
    stripe.lock();
    try {
      if (claim.phase() != ClaimPhase.HELD
          || !claim.isAttempt(pendingAdjust.sent().attempt())
          || claim.holder != lease) {
        return;
      }
      boolean undone =
          reply instanceof Reply.Refused
              || (reply instanceof Reply.Failed failed && !failed.mayHaveRun());
      if (undone && lease.validity() == pendingAdjust.meanwhile()) {
        hang(stripe, lease, pendingAdjust.before());
      }
      if (reply instanceof Reply.Granted granted) {
        granted(stripe, lease, pendingAdjust, granted);
      } else if (reply instanceof Reply.Refused refused
          && refused.why() == Reply.RefusalReason.NOT_HELD) {
        engine.lossProtocol.lose(stripe, claim, LeaseEnd.FORGOTTEN, "the store no longer knew it");
        engine.transitions.release(stripe, claim);
      } else if (reply instanceof Reply.Refused refused
          && refused.why() == Reply.RefusalReason.SESSION_GONE) {
        LiveSession session = Objects.requireNonNull(claim.session);
        stripe.afterUnlock(() -> engine.sessionGone(session));
      }
    } finally {
      stripe.unlock();
    }
  }

  private void granted(
      Stripe stripe, LeaseImpl lease, PendingAdjust pendingAdjust, Reply.Granted granted) {
    Claim claim = lease.claim;
    claim.mode = pendingAdjust.mode();
    Duration atMost = granted.atMostLeft();
    if (atMost != null) {
      LiveSession session = Objects.requireNonNull(claim.session);
      Validity.RecentAtMost recentAtMost =
          lease.validity() instanceof Validity.Capped capped ? capped.shortest() : null;
      hang(
          stripe,
          lease,
          engine.transitions.timed(
              session, whole(lease.validity()), pendingAdjust.sent(), atMost, recentAtMost));
    }
    moveWaiters(stripe, claim);
  }

  /** Those who waited for the hold to be passed on ask for themselves. */
  void moveWaiters(Stripe stripe, Claim claim) {
    if (claim.head() == null) {
      return;
    }
    Claim next = new Claim(claim.name, claim.head().mode, HoldTerms.NONE, true);
    while (claim.head() != null) {
      Waiter waiter = claim.head();
      claim.remove(waiter);
      next.add(waiter);
    }
    stripe.add(next);
    engine.acquireProtocol.begin(stripe, next);
  }

  /** Blocks. An answer that comes later still counts: see {@link #adjusted}. */
  private void checkInTime(LeaseImpl lease, CompletableFuture<Reply> answer) {
    long most = engine.tryNanos();
    try {
      check(lease, answer.orTimeout(most, TimeUnit.NANOSECONDS).join());
    } catch (CompletionException e) {
      throw engine.unavailable(lease.claim.name, ClaimTransitions.noAnswer("within", most));
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
                    + lease.claim.name
                    + "' could not be changed: it was lost. "
                    + refused.message(),
                lease.state() == Lease.State.LOST
                    ? engine.lossProtocol.loss(lease).end()
                    : LeaseEnd.FORGOTTEN);
      }
    }
    if (reply instanceof Reply.Failed failed) {
      throw engine.unavailable(lease.claim.name, failed.cause());
    }
  }
}
