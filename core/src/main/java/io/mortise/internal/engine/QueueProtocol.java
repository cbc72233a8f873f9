package io.mortise.internal.engine;

import io.mortise.internal.engine.Claim.ClaimPhase;
import io.mortise.spi.Capability;
import io.mortise.spi.Reply;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which claims poll while they stand in the store's queue: of each lock the first few of this
 * process. The others rest until a push grants them the lock, or until they poll in place of one
 * that has left (invariants.md#few-waiters-poll). Everything here runs under the stripe's lock.
 */
final class QueueProtocol {
  /** One would do. The others notice sooner that a head has not heard of its grant. */
  static final int POLLING = 4;

  /** How soon a claim polls that takes the place of another. */
  private static final long NEXT_NANOS = 20_000_000;

  private final Engine engine;
  private final int mostPolling;

  /** Whether a waiter hears of its grant. If not, it asks often. */
  private final boolean isCalled;

  QueueProtocol(Engine engine) {
    this.engine = engine;
    this.mostPolling = engine.env.rules().restsBehindOthers() ? POLLING : Integer.MAX_VALUE;
    this.isCalled =
        engine.acquireProtocol.canQueue() && engine.store.profile().can(Capability.PUSH);
  }

  /** The claims of one lock name that stand in the store's queue. */
  static final class QueuedClaims {
    private int polling;

    /** In the order in which they came into the queue; null until there was one. */
    private @Nullable Set<Claim> resting;

    private void add(Claim claim, int mostPolling) {
      if (polling < mostPolling) {
        polling++;
        return;
      }
      if (resting == null) {
        resting = new LinkedHashSet<>();
      }
      resting.add(claim);
    }

    /** Returns the claim that polls in its place; null if it did not poll, or none rests. */
    private @Nullable Claim remove(Claim claim) {
      if (resting != null && resting.remove(claim)) {
        return null;
      }
      Iterator<Claim> first = resting == null ? null : resting.iterator();
      if (first == null || !first.hasNext()) {
        polling--;
        return null;
      }
      Claim next = first.next();
      first.remove();
      return next;
    }

    boolean isResting(Claim claim) {
      return resting != null && resting.contains(claim);
    }

    private boolean isEmpty() {
      return polling == 0 && (resting == null || resting.isEmpty());
    }
  }

  /**
   * The claim stands in the store's queue.
   *
   * @param ahead how many may be before it
   */
  void joined(Stripe stripe, Claim claim, int ahead) {
    QueuedClaims queue = claim.queue();
    if (queue == null) {
      queue = stripe.queued.computeIfAbsent(claim.name, name -> new QueuedClaims());
      queue.add(claim, mostPolling);
    }
    claim.queued(queue, ahead);
  }

  /**
   * The claim stands there no more, if it did: it waits no longer, or a request found its grant. In
   * that case others may hold, too, without having heard of it.
   */
  void left(Stripe stripe, Claim claim) {
    left(stripe, claim, NEXT_NANOS);
  }

  /** The claim stands there no more, since a push granted it the lock: one will call the next. */
  void granted(Stripe stripe, Claim claim) {
    left(stripe, claim, isCalled ? engine.env.ttlNanos() / 3 : NEXT_NANOS);
  }

  private void left(Stripe stripe, Claim claim, long pollIn) {
    QueuedClaims queue = claim.queue();
    if (queue == null) {
      return;
    }
    claim.queued(null, 0);
    Claim next = queue.remove(claim);
    if (queue.isEmpty()) {
      stripe.queued.remove(claim.name);
    } else if (next != null && engine.env.rules().pollsInPlaceOfOthers()) {
      engine.acquireProtocol.askLater(stripe, next, engine.env.jittered(pollIn), null);
    }
  }

  /** A claim that polls was told to wait: one that holds without having heard of it asks now. */
  void callUnheard(Stripe stripe, Claim waiting, Reply.@Nullable Holder holder) {
    if (holder == null || !waiting.isOfSession(holder.attempt().session())) {
      return;
    }
    Claim holding = stripe.find(waiting.name, holder.attempt());
    if (holding != null && holding.phase() == ClaimPhase.ASKED) {
      engine.acquireProtocol.pollNow(stripe, holding);
    }
  }

  /** When the store says, or soon if nobody calls: 20 ms for each who is ahead, 500 ms at most. */
  Duration retryAfter(Duration told, int ahead) {
    if (isCalled) {
      return told;
    }
    long soon =
        engine.env.jittered(
            Math.min(AcquireProtocol.POLL_NANOS * (1L + ahead), AcquireProtocol.MOST_POLL_NANOS));
    return told.toNanos() < soon ? told : Duration.ofNanos(soon);
  }
}
