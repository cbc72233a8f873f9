package io.mortise.zookeeper;

import io.mortise.LockName;
import io.mortise.spi.Reply.AttemptState;
import io.mortise.spi.Reply.EndReason;
import org.jspecify.annotations.Nullable;

/**
 * The last ends of a session's attempts: a node that is gone says nothing any more, but the process
 * that asks again is the one that removed it. Guarded by its session.
 */
final class EndedAttempts {
  private static final int SIZE = 256;

  private final long[] numbers = new long[SIZE];
  private final @Nullable LockName[] names = new @Nullable LockName[SIZE];
  private final AttemptEnd[] ends = new AttemptEnd[SIZE];
  private int next;

  /** What an attempt did, and what ended it. */
  enum AttemptEnd {
    HOLD_RELEASED(AttemptState.HELD, EndReason.RELEASED),
    HOLD_TAKEN(AttemptState.HELD, EndReason.TAKEN),
    HOLD_GONE(AttemptState.HELD, EndReason.UNKNOWN),
    WAIT_RELEASED(AttemptState.WAITING, EndReason.RELEASED),
    WAIT_GONE(AttemptState.WAITING, EndReason.UNKNOWN);

    final AttemptState attemptState;
    final EndReason endReason;

    AttemptEnd(AttemptState attemptState, EndReason endReason) {
      this.attemptState = attemptState;
      this.endReason = endReason;
    }

    /** Its session has removed the attempt's node. */
    static AttemptEnd released(ZooKeeperAttempt attempt) {
      return attempt.wasHeld() ? HOLD_RELEASED : WAIT_RELEASED;
    }

    /** Another client has removed the attempt's node. */
    static AttemptEnd gone(ZooKeeperAttempt attempt) {
      return attempt.wasHeld() ? HOLD_GONE : WAIT_GONE;
    }
  }

  void add(long number, LockName name, AttemptEnd attemptEnd) {
    numbers[next] = number;
    names[next] = name;
    ends[next] = attemptEnd;
    next = (next + 1) % SIZE;
  }

  @Nullable AttemptEnd get(long number, LockName name) {
    for (int i = 0; i < SIZE; i++) {
      if (numbers[i] == number && name.equals(names[i])) {
        return ends[i];
      }
    }
    return null;
  }
}
