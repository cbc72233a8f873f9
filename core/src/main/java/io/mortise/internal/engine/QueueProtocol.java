package io.mortise.internal.engine;

import io.mortise.internal.engine.state.Claim;
import io.mortise.internal.engine.state.Claim.ClaimPhase;
import io.mortise.internal.engine.state.EngineSettings;
import io.mortise.internal.engine.state.Stripe;
import io.mortise.internal.engine.state.Stripe.QueuedClaims;
import io.mortise.spi.Reply;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Selects the claims that poll while they stand in the store's queue: for each lock the first few
 * of this process. The others rest until a push grants them the lock, or until they poll in place
 * of a claim that has left (invariants.md#few-waiters-poll). Everything here runs under the
 * stripe's lock.
 */
final class QueueProtocol {
  /** One would suffice. With several, an unnoticed grant to the head is found sooner. */
  static final int POLLING = 4;

  /** The delay of the first poll of a claim that takes the place of another. */
  private static final long NEXT_NANOS = 20_000_000;

  /**
   * The first waiter's polling interval in a store without pushes; each waiter ahead adds as much.
   */
  static final long POLL_NANOS = 20_000_000;

  private final EngineSettings settings;
  private final int mostPolling;

  QueueProtocol(EngineSettings settings) {
    this.settings = settings;
    this.mostPolling = settings.rules().restsBehindOthers() ? POLLING : Integer.MAX_VALUE;
  }

  /**
   * Records that the claim stands in the store's queue.
   *
   * @param ahead how many attempts may be before it
   */
  void joined(Stripe stripe, Claim claim, int ahead) {
    if (!claim.isQueued()) {
      stripe.addQueued(claim.name()).add(claim, mostPolling);
    }
    claim.queued(ahead);
  }

  /** Whether the claim stands in the queue and does not poll. */
  boolean isResting(Stripe stripe, Claim claim) {
    QueuedClaims queue = stripe.queued(claim.name());
    return queue != null && queue.isResting(claim);
  }

  /**
   * Removes the claim from the queue.
   *
   * @return the claim that polls in its place; null if none has to
   */
  @Nullable Claim left(Stripe stripe, Claim claim) {
    claim.leftQueue();
    QueuedClaims queue = stripe.queued(claim.name());
    if (queue == null) {
      return null;
    }
    Claim next = queue.remove(claim);
    if (queue.isEmpty()) {
      stripe.removeQueued(claim.name());
      return null;
    }
    return settings.rules().pollsInPlaceOfOthers() ? next : null;
  }

  /**
   * The delay of a claim that polls in place of another, which no longer waits or whose request
   * found its grant. In the latter case others may also hold without knowing.
   */
  long nextPoll() {
    return settings.env().jittered(NEXT_NANOS);
  }

  /** The delay if a push granted the lock to the other: a push will also come for the next. */
  long nextPollAfterPush() {
    return settings
        .env()
        .jittered(settings.isCalled() ? settings.env().ttlNanos() / 3 : NEXT_NANOS);
  }

  /**
   * The claim of this process that holds in the store without knowing, after a polling claim was
   * told to wait.
   */
  @Nullable Claim unheard(Stripe stripe, Claim waiting, Reply.@Nullable Holder holder) {
    if (holder == null || !waiting.isOfSession(holder.attempt().session())) {
      return null;
    }
    Claim holding = stripe.find(waiting.name(), holder.attempt());
    return holding != null && holding.phase() == ClaimPhase.ASKED ? holding : null;
  }

  /**
   * The store's retry time, or a short one without pushes: 20 ms per waiter ahead, at most 500 ms.
   */
  Duration retryAfter(Duration told, int ahead) {
    if (settings.isCalled()) {
      return told;
    }
    long soon =
        settings
            .env()
            .jittered(Math.min(POLL_NANOS * (1L + ahead), EngineSettings.MOST_POLL_NANOS));
    return told.toNanos() < soon ? told : Duration.ofNanos(soon);
  }
}
