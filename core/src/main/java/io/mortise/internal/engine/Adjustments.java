package io.mortise.internal.engine;

import io.mortise.LeaseLostException;
import io.mortise.StoreUnavailableException;
import io.mortise.UnsupportedByStoreException;
import io.mortise.internal.engine.Claim.Phase;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.Terms;
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
    Terms terms = new Terms(atMost, null, "");
    adjust(lease, null, terms);
  }

  void keepShut(LeaseImpl lease, Duration atLeast) {
    adjust(lease, null, new Terms(null, atLeast, ""));
  }

  void downgrade(LeaseImpl lease) {
    Mode mode = lease.claim.mode;
    if (mode.capacity() != Mode.SHARERS) {
      throw new IllegalStateException(
          "Lock '" + lease.name() + "' is a semaphore, which has no shared side to downgrade to.");
    }
    if (!mode.equals(Mode.SHARED)) {
      adjust(lease, Mode.SHARED, Terms.NONE);
    }
  }

  private void adjust(LeaseImpl lease, @Nullable Mode to, Terms terms) {
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
      Asking.Sent sent = new Asking.Sent(attempt, engine.env.now(), session.asleep());
      shorten(stripe, lease, sent, terms);
      stripe.send(
          session,
          new Request.Adjust(claim.name, attempt, mode, terms, 0),
          reply -> {
            adjusted(stripe, lease, sent, mode, reply);
            answer.complete(reply);
          });
    } finally {
      stripe.unlock();
    }
    check(lease, answer.join());
  }

  /**
   * From the moment when a shorter time is sent, the longer one cannot be relied upon, whether or
   * not an answer comes.
   */
  private void shorten(Stripe stripe, LeaseImpl lease, Asking.Sent sent, Terms terms) {
    Claim claim = lease.claim;
    if (terms.atMost() != null) {
      Bond.Timed bond =
          engine.claims.timed(Objects.requireNonNull(claim.session), sent, terms.atMost());
      if (bond.validUntil() - lease.bond().validUntil() < 0) {
        lease.bond(bond);
        engine.claims.watch(stripe, claim, bond);
      }
    }
  }

  private void adjusted(Stripe stripe, LeaseImpl lease, Asking.Sent sent, Mode mode, Reply reply) {
    Claim claim = lease.claim;
    stripe.lock();
    try {
      if (claim.phase != Phase.HELD || !claim.isAttempt(sent.attempt()) || claim.holder != lease) {
        return;
      }
      if (reply instanceof Reply.Granted granted) {
        claim.mode = mode;
        Duration atMost = granted.atMostLeft();
        if (atMost != null) {
          Bond.Timed bond =
              engine.claims.timed(Objects.requireNonNull(claim.session), sent, atMost);
          lease.bond(bond);
          engine.claims.watch(stripe, claim, bond);
        }
        moveWaiters(stripe, claim);
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

  /** Those who waited for the hold to be passed on ask for themselves. */
  void moveWaiters(Stripe stripe, Claim claim) {
    if (claim.head == null) {
      return;
    }
    Claim next = new Claim(claim.name, claim.head.mode, Terms.NONE, true);
    while (claim.head != null) {
      Waiter waiter = claim.head;
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
