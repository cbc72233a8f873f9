package io.mortise.spi;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a store answers to a {@link Request}: exactly one of these for each, in any order, on any
 * thread.
 */
public sealed interface Reply {
  /** The attempt that the request was about. */
  AttemptId attempt();

  /**
   * The attempt holds.
   *
   * @param token first token of the block: greater than every token minted for this name before; 0
   *     from a store without {@link Capability#TOKEN}
   * @param tokens how many consecutive tokens belong to this hold, at least 1
   * @param wanted whether somebody is known to wait for the lock; always true from a store that
   *     cannot know ({@link Capability#SESSION})
   * @param atMostLeft what is left of the at-most time as the store saw it when answering; null if
   *     the hold has none
   * @param votes what the hold rests on beside its session; null if on nothing else
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
   * @param ahead how many may be before it; an upper bound
   * @param holder one present holder, null if there is none (shut, or free with a queue that is
   *     being served)
   * @param retryAfter when to send the acquire again, at the latest; no push is relied upon. No
   *     later than the session of anyone would end who holds, or is among the first 8 that wait
   *     ahead
   */
  record Queued(AttemptId attempt, int ahead, @Nullable Holder holder, Duration retryAfter)
      implements Reply {}

  /**
   * Not granted, and not queued as the request asked; nothing stays in the store but a note for the
   * holder.
   */
  record Busy(AttemptId attempt, @Nullable Holder holder, Duration retryAfter) implements Reply {}

  /**
   * The attempt neither holds nor waits any more.
   *
   * @param was what it did before; for an attempt whose end is remembered, what it did then
   * @param how what ended it; {@link EndReason#UNKNOWN} if the store knows nothing of the attempt
   * @param more whether work for the queue is left: send the same request again
   */
  record Ended(AttemptId attempt, AttemptState was, EndReason how, boolean more) implements Reply {}

  /** The store will not do it; nothing was changed. The message says what to do about it. */
  record Refused(AttemptId attempt, RefusalReason why, String message) implements Reply {}

  /**
   * The store did not answer as it should.
   *
   * @param mayHaveRun false only if the request surely was not and will not be executed
   */
  record Failed(AttemptId attempt, boolean mayHaveRun, Throwable cause) implements Reply {}

  /**
   * A holder in the way.
   *
   * @param sessionLeft what is left of its session as the store saw it; zero if it should be judged
   */
  record Holder(AttemptId attempt, long token, Duration sessionLeft) {}

  /** What an attempt did before it ended. */
  enum AttemptState {
    /** It held. */
    HELD,
    /** It waited in the queue. */
    WAITING,
    /** The store knows nothing of it. */
    ABSENT
  }

  /** What ended an attempt. */
  enum EndReason {
    /** Its owner abandoned it. */
    RELEASED,
    /** Its at-most time passed. */
    EXPIRED,
    /** An operator ended it. */
    EVICTED,
    /** Its session was judged dead and another took over. */
    TAKEN,
    /** Not known. */
    UNKNOWN
  }

  /** Why a store refuses. */
  enum RefusalReason {
    /** The session of the request is not (or no longer) alive in the store. */
    SESSION_GONE,
    /** The attempt has ended already. */
    ENDED,
    /** An operator has ended the attempt, and nobody is to ask again under another. */
    EVICTED,
    /** The store cannot do this at all. */
    UNSUPPORTED,
    /** The lock exists with another capacity. */
    CAPACITY_DIFFERS,
    /** The adjusted attempt does not hold. */
    NOT_HELD,
    /** The hold may have no more fencing tokens, and stays as it is. */
    TOKENS_USED_UP,
    /** The store has no room, and lets nobody in until it has. Holds stay as they are. */
    STORE_FULL
  }
}
