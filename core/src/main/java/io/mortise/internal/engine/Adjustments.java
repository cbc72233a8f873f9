package io.mortise.internal.engine;

import io.mortise.LeaseLostException;
import io.mortise.StoreUnavailableException;
import io.mortise.Terms;
import io.mortise.UnsupportedByStoreException;
import io.mortise.internal.engine.Claim.Phase;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Changes to a hold while it is held. Each blocks for one round trip. */
final class Adjustments {
  private final Engine engine;

  Adjustments(Engine engine) {
    this.engine = engine;
  }

  void extend(LeaseImpl lease, Duration atMost) {
    check(lease, adjust(lease, null, new Terms(atMost, null, "")).join());
  }

  void keepShut(LeaseImpl lease, Duration atLeast) {
    check(lease, adjust(lease, null, new Terms(null, atLeast, "")).join());
  }

  void downgrade(LeaseImpl lease) {
    if (canDowngrade(lease)) {
      check(lease, adjust(lease, Mode.SHARED, Terms.NONE).join());
    }
  }

  CompletableFuture<Void> extendAsync(LeaseImpl lease, Duration atMost) {
    return adjust(lease, null, new Terms(atMost, null, ""))
        .thenAccept(reply -> check(lease, reply));
  }

  CompletableFuture<Void> keepShutAsync(LeaseImpl lease, Duration atLeast) {
    return adjust(lease, null, new Terms(null, atLeast, ""))
        .thenAccept(reply -> check(lease, reply));
  }

  CompletableFuture<Void> downgradeAsync(LeaseImpl lease) {
    return canDowngrade(lease)
        ? adjust(lease, Mode.SHARED, Terms.NONE).thenAccept(reply -> check(lease, reply))
        : CompletableFuture.completedFuture(null);
  }

  private static boolean canDowngrade(LeaseImpl lease) {
    Mode mode = lease.claim.mode;
    if (mode.capacity() != Mode.SHARERS) {
      throw new IllegalStateException(
          "Lock '" + lease.name() + "' is a semaphore, which has no shared side to downgrade to.");
    }
    return !mode.equals(Mode.SHARED);
  }

  private CompletableFuture<Reply> adjust(LeaseImpl lease, @Nullable Mode to, Terms terms) {
    lease.ensureValid();
    Claim claim = lease.claim;
    Stripe stripe = engine.stripe(claim.name);
    CompletableFuture<Reply> answer = new CompletableFuture<>();
    stripe.lock();
    try {
      if (!lease.isOpen()) {
        throw engine.loss(lease);
      }
      LiveSession session = Objects.requireNonNull(claim.session);
      AttemptId attempt = session.attempt(claim.number);
      Mode mode = to == null ? claim.mode : to;
      // The hold is no longer like those that wait for it: it is not passed on, but released.
      claim.shared = false;
      Asking.Sent sent =
          new Asking.Sent(attempt, engine.env.now(), session.asleep(), session.doubts());
      Bond before = lease.bond();
      boolean timed = terms.atMost() != null && engine.env.rules().expectsStragglers();
      Bond meanwhile = timed ? shortened(session, before, sent, terms) : before;
      hang(stripe, lease, meanwhile);
      stripe.send(
          session,
          new Request.Adjust(claim.name, attempt, mode, terms, 0),
          reply -> {
            adjusted(stripe, lease, new Change(sent, mode, before, meanwhile), reply);
            answer.complete(reply);
          });
    } finally {
      stripe.unlock();
    }
    return answer;
  }

  /** A change on its way: what the lease hung on before, and what it hangs on until the answer. */
  private record Change(Asking.Sent sent, Mode mode, Bond before, Bond meanwhile) {}

  /**
   * From the moment when an at-most time is sent, a longer one cannot be relied upon, whether or
   * not an answer comes. Nor can this one, for as long as a shorter one may still be under way.
   */
  private Bond shortened(LiveSession session, Bond before, Asking.Sent sent, Terms terms) {
    long nanos = engine.claims.reliable(Objects.requireNonNull(terms.atMost()));
    long deadline = sent.at() + nanos;
    if (before instanceof Bond.Timed timed) {
      Bond.Shortest recent = timed.shortest();
      long inFlight = engine.store.profile().maxInFlight().toNanos();
      if (recent != null && sent.at() - recent.sentAt() - inFlight <= 0) {
        nanos = Math.min(nanos, recent.nanos());
        deadline = sent.at() + nanos;
      }
      long end = timed.deadline() - (sent.asleep() - timed.asleep());
      deadline = end - deadline < 0 ? end : deadline;
    }
    return new Bond.Timed(
        session, whole(before), deadline, sent.asleep(), new Bond.Shortest(sent.at(), nanos));
  }

  private static Bond whole(Bond bond) {
    return bond instanceof Bond.Timed timed ? timed.whole() : bond;
  }

  private void hang(Stripe stripe, LeaseImpl lease, Bond bond) {
    // What is in doubt is so until the hold as a whole is confirmed, with its times.
    if (lease.bond() != bond && !(lease.bond() instanceof Bond.InDoubt)) {
      lease.bond(bond);
      engine.claims.watch(stripe, lease.claim, bond);
    }
  }

  private void adjusted(Stripe stripe, LeaseImpl lease, Change change, Reply reply) {
    Claim claim = lease.claim;
    stripe.lock();
    try {
      if (claim.phase() != Phase.HELD
          || !claim.isAttempt(change.sent().attempt())
          || claim.holder != lease) {
        return;
      }
      boolean undone =
          reply instanceof Reply.Refused
              || (reply instanceof Reply.Failed failed && !failed.mayHaveRun());
      if (undone && lease.bond() == change.meanwhile()) {
        hang(stripe, lease, change.before());
      }
      if (reply instanceof Reply.Granted granted) {
        granted(stripe, lease, change, granted);
      } else if (reply instanceof Reply.Refused refused && refused.why() == Reply.Why.NOT_HELD) {
        engine.lose(stripe, claim, "the store no longer knew it");
        engine.claims.release(stripe, claim);
      } else if (reply instanceof Reply.Refused refused
          && refused.why() == Reply.Why.SESSION_GONE) {
        LiveSession session = Objects.requireNonNull(claim.session);
        stripe.afterwards(() -> engine.sessionGone(session));
      }
    } finally {
      stripe.unlock();
    }
  }

  private void granted(Stripe stripe, LeaseImpl lease, Change change, Reply.Granted granted) {
    Claim claim = lease.claim;
    claim.mode = change.mode();
    Duration atMost = granted.atMostLeft();
    if (atMost != null) {
      LiveSession session = Objects.requireNonNull(claim.session);
      Bond.Shortest shortest = lease.bond() instanceof Bond.Timed timed ? timed.shortest() : null;
      hang(
          stripe,
          lease,
          engine.claims.timed(session, whole(lease.bond()), change.sent(), atMost, shortest));
    }
    moveWaiters(stripe, claim);
  }

  /** Those who waited for the hold to be passed on ask for themselves. */
  void moveWaiters(Stripe stripe, Claim claim) {
    if (claim.head() == null) {
      return;
    }
    Claim next = new Claim(claim.name, claim.head().mode, Terms.NONE, true);
    while (claim.head() != null) {
      Waiter waiter = claim.head();
      claim.remove(waiter);
      next.add(waiter);
    }
    stripe.add(next);
    engine.asking.begin(stripe, next);
  }

  private void check(LeaseImpl lease, Reply reply) {
    if (reply instanceof Reply.Refused refused) {
      switch (refused.why()) {
        case UNSUPPORTED -> throw new UnsupportedByStoreException(refused.message());
        case STORE_FULL -> throw new StoreUnavailableException(refused.message());
        default ->
            throw new LeaseLostException(
                "Lease on lock '"
                    + lease.name()
                    + "' could not be changed: it was lost. "
                    + refused.message());
      }
    }
    if (reply instanceof Reply.Failed failed) {
      throw engine.unavailable(lease.claim.name, failed.cause());
    }
  }
}
