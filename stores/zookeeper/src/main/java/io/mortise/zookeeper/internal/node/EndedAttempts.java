package io.mortise.zookeeper.internal.node;

import io.mortise.LockName;
import io.mortise.spi.Reply.AttemptState;
import io.mortise.spi.Reply.EndReason;
import org.jspecify.annotations.Nullable;

/**
 * The last ends of a session's attempts. A vanished node tells nothing any more, but the process
 * that asks for the end is the one that removed it. Guarded by its session.
 */
public final class EndedAttempts {
  private static final int SIZE = 256;

  private final long[] numbers = new long[SIZE];
  private final @Nullable LockName[] names = new @Nullable LockName[SIZE];
  private final AttemptEnd[] ends = new AttemptEnd[SIZE];
  private int next;

  /** How far an attempt had come, and how it ended. */
  public enum AttemptEnd {
    HOLD_RELEASED(AttemptState.HELD, EndReason.RELEASED),
    HOLD_TAKEN(AttemptState.HELD, EndReason.TAKEN),
    HOLD_GONE(AttemptState.HELD, EndReason.UNKNOWN),
    HOLD_EVICTED(AttemptState.HELD, EndReason.EVICTED),
    WAIT_RELEASED(AttemptState.WAITING, EndReason.RELEASED),
    WAIT_GONE(AttemptState.WAITING, EndReason.UNKNOWN),
    WAIT_EVICTED(AttemptState.WAITING, EndReason.EVICTED);

    public final AttemptState attemptState;
    public final EndReason endReason;

    AttemptEnd(AttemptState attemptState, EndReason endReason) {
      this.attemptState = attemptState;
      this.endReason = endReason;
    }
  }

  public void add(long number, LockName name, AttemptEnd attemptEnd) {
    numbers[next] = number;
    names[next] = name;
    ends[next] = attemptEnd;
    next = (next + 1) % SIZE;
  }

  public @Nullable AttemptEnd get(long number, LockName name) {
    for (int i = 0; i < SIZE; i++) {
      if (numbers[i] == number && name.equals(names[i])) {
        return ends[i];
      }
    }
    return null;
  }
}
