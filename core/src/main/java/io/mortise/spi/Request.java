package io.mortise.spi;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import org.jspecify.annotations.Nullable;

/**
 * A request of the engine to a store about one lock. Each is one atomic, bounded step, idempotent
 * by attempt id.
 */
public sealed interface Request {
  /** The lock. */
  LockName name();

  /** The attempt. It belongs to the session of the submission, except for {@link Abandon}. */
  AttemptId attempt();

  /** The most tokens that one request can ask for; stores keep the number in four digits. */
  int MAX_TOKENS = 8_192;

  /**
   * Acquires the lock, or, repeated under the same id, asks for the state of the attempt.
   *
   * @param queue whether to wait in the store's queue if the lock cannot be granted now
   * @param tokens the desired number of fencing tokens, 1 to {@link #MAX_TOKENS}; the store may
   *     give fewer
   * @param tokenFloor every token granted is at least this; 0 for no floor
   * @param provenDead a session that {@link LockStore#judge} found ended: its holds on this lock
   *     are ended first. The step compares this id only, and does not judge sessions itself
   *     (invariants.md#judge-apart: a condition on another session's time, read under an older
   *     snapshot, gives two holders)
   * @param confirms whether the attempt is believed to hold the lock and its owner waits for a
   *     confirmation: it is not queued behind acquires of new holds
   */
  record Acquire(
      LockName name,
      AttemptId attempt,
      Mode mode,
      boolean queue,
      HoldTerms terms,
      int tokens,
      long tokenFloor,
      @Nullable SessionId provenDead,
      boolean confirms)
      implements Request {
    /** The acquire of an attempt that is not known to hold. */
    public Acquire(
        LockName name,
        AttemptId attempt,
        Mode mode,
        boolean queue,
        HoldTerms terms,
        int tokens,
        long tokenFloor,
        @Nullable SessionId provenDead) {
      this(name, attempt, mode, queue, terms, tokens, tokenFloor, provenDead, false);
    }

    /** Checks the numbers. */
    public Acquire {
      if (tokens < 1 || tokens > MAX_TOKENS || tokenFloor < 0) {
        throw new IllegalArgumentException("tokens=" + tokens + ", tokenFloor=" + tokenFloor);
      }
    }
  }

  /**
   * Ends the attempt, whether it holds or waits; afterwards it does neither. The same step hands
   * the lock to the queue's head. Release and cancel are one request, because only the store knows
   * which of the two applies.
   */
  record Abandon(LockName name, AttemptId attempt) implements Request {}

  /**
   * Changes a hold: narrows its mode, restarts its times from now, or mints a fresh block of
   * tokens. Never widens.
   *
   * @param mode the mode from now on; weight at most the present one, same capacity
   * @param terms times restarted from now; a null time leaves that of the hold unchanged
   * @param tokens size of a fresh block, 0 for none
   * @param tokenFloor every token of a fresh block is at least this; 0 for no floor
   */
  record Adjust(
      LockName name, AttemptId attempt, Mode mode, HoldTerms terms, int tokens, long tokenFloor)
      implements Request {
    /** Checks the numbers. */
    public Adjust {
      if (tokens < 0 || tokens > MAX_TOKENS || tokenFloor < 0) {
        throw new IllegalArgumentException("tokens=" + tokens + ", tokenFloor=" + tokenFloor);
      }
    }
  }
}
