package io.mortise.spi;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A store's answer to a {@link Request}: exactly one for each, in any order, on any thread. */
public sealed interface Reply {
  /** The attempt that the request was about. */
  AttemptId attempt();

  /**
   * The attempt holds.
   *
   * @param token first token of the block: greater than every token minted for this name before; 0
   *     from a store without {@link Capability#TOKEN}
   * @param tokens how many consecutive tokens belong to this hold, at least 1
   * @param wanted whether another attempt is known to wait for the lock; always true from a store
   *     that cannot know ({@link Capability#SESSION})
   * @param atMostLeft the rest of the at-most time when the store answered; null if the hold has
   *     none
   * @param votes the further conditions of the hold beside its session; null if there are none
   */
  record Granted(
      AttemptId attempt,
      long token,
      int tokens,
      boolean wanted,
      @Nullable Duration atMostLeft,
      @Nullable Votes votes)
      implements Reply {}

  /**
   * The attempt waits in the store's queue.
   *
   * @param ahead how many attempts may be before it; an upper bound
   * @param holder one present holder, null if there is none (shut, or free with a queue that is
   *     being served)
   * @param retryAfter when to send the acquire again, at the latest, without relying on a push. No
   *     later than the earliest end of the session of a holder, or of one of the first 8 waiters
   *     ahead
   */
  record Queued(AttemptId attempt, int ahead, @Nullable Holder holder, Duration retryAfter)
      implements Reply {}

  /** Neither granted nor queued, as the request asked; only a note for the holder may stay. */
  record Busy(AttemptId attempt, @Nullable Holder holder, Duration retryAfter) implements Reply {}

  /**
   * The attempt neither holds nor waits any more.
   *
   * @param was its state before; for an attempt whose end is remembered, its state before that end
   * @param how the cause of its end; {@link EndReason#UNKNOWN} if the store knows nothing of the
   *     attempt
   * @param more whether work for the queue is left: send the same request again
   */
  record Ended(AttemptId attempt, AttemptState was, EndReason how, boolean more) implements Reply {}

  /** The store refuses the request and has changed nothing. The message names a remedy. */
  record Refused(AttemptId attempt, RefusalReason why, String message) implements Reply {}

  /**
   * The store did not answer correctly, or not at all.
   *
   * @param mayHaveRun false only if the request surely was not and will not be executed
   */
  record Failed(AttemptId attempt, boolean mayHaveRun, Throwable cause) implements Reply {}

  /**
   * A holder that blocks the attempt.
   *
   * @param sessionLeft the rest of its session as the store saw it; zero if it should be judged
   */
  record Holder(AttemptId attempt, long token, Duration sessionLeft) {}

  /** The state of an attempt before its end. */
  enum AttemptState {
    /** It held. */
    HELD,
    /** It waited in the queue. */
    WAITING,
    /** The store knows nothing of it. */
    ABSENT
  }

  /** The causes of an attempt's end. */
  enum EndReason {
    /** Its owner abandoned it. */
    RELEASED,
    /** Its at-most time passed. */
    EXPIRED,
    /** An operator ended it. */
    EVICTED,
    /** Its session was judged dead, and another attempt ended it. */
    TAKEN,
    /** Not known. */
    UNKNOWN
  }

  /** The reasons of a refusal. */
  enum RefusalReason {
    /** The session of the request is not (or no longer) alive in the store. */
    SESSION_GONE,
    /** The attempt has ended already. */
    ENDED,
    /** An operator has ended the attempt, and its owner must not retry under another id. */
    EVICTED,
    /** The store cannot do this at all. */
    UNSUPPORTED,
    /** The lock exists with another capacity. */
    CAPACITY_DIFFERS,
    /** The adjusted attempt does not hold. */
    NOT_HELD,
    /** The hold may have no more fencing tokens; it stays unchanged. */
    TOKENS_USED_UP,
    /** The store has no room, and grants nothing until it has. Holds stay unchanged. */
    STORE_FULL
  }
}
