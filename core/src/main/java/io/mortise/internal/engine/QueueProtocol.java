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
 * Which claims poll while they stand in the store's queue: of each lock the first few of this
 * process. The others rest until a push grants them the lock, or until they poll in place of one
 * that has left (invariants.md#few-waiters-poll). Everything here runs under the stripe's lock.
 */
final class QueueProtocol {
  /** One would do. The others notice sooner that a head has not heard of its grant. */
  static final int POLLING = 4;

  /** How soon a claim polls that takes the place of another. */
  private static final long NEXT_NANOS = 20_000_000;

  /** Between the polls of the first waiter if nobody calls it; each one ahead adds as much. */
  static final long POLL_NANOS = 20_000_000;

  private final EngineSettings settings;
  private final int mostPolling;

  QueueProtocol(EngineSettings settings) {
    this.settings = settings;
    this.mostPolling = settings.rules().restsBehindOthers() ? POLLING : Integer.MAX_VALUE;
  }

  /**
   * The claim stands in the store's queue.
   *
   * @param ahead how many may be before it
   */
  void joined(Stripe stripe, Claim claim, int ahead) {
    if (!claim.isQueued()) {
      stripe.addQueued(claim.name()).add(claim, mostPolling);
    }
    claim.queued(ahead);
  }

  /** Whether the claim stands there, and does not poll. */
  boolean isResting(Stripe stripe, Claim claim) {
    QueuedClaims queue = stripe.queued(claim.name());
    return queue != null && queue.isResting(claim);
  }

  /**
   * The claim, which stands there, does so no more.
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
   * How soon a claim polls that takes the place of another: one that waits no longer, or whose
   * request found its grant. In that case others may hold, too, without having heard of it.
   */
  long nextPoll() {
    return settings.env().jittered(NEXT_NANOS);
  }

  /** The same if a push granted the lock to the other: one will call the next. */
  long nextPollAfterPush() {
    return settings
        .env()
        .jittered(settings.isCalled() ? settings.env().ttlNanos() / 3 : NEXT_NANOS);
  }

  /** A claim that polls was told to wait: the one that holds without having heard of it. */
  @Nullable Claim unheard(Stripe stripe, Claim waiting, Reply.@Nullable Holder holder) {
    if (holder == null || !waiting.isOfSession(holder.attempt().session())) {
      return null;
    }
    Claim holding = stripe.find(waiting.name(), holder.attempt());
    return holding != null && holding.phase() == ClaimPhase.ASKED ? holding : null;
  }

  /** When the store says, or soon if nobody calls: 20 ms for each who is ahead, 500 ms at most. */
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
