package io.mortise.zookeeper;

import io.mortise.LockName;
import io.mortise.spi.Reply.How;
import io.mortise.spi.Reply.Was;
import org.jspecify.annotations.Nullable;

/**
 * The last ends of a session's attempts: a node that is gone says nothing any more, but the process
 * that asks again is the one that removed it. Guarded by its session.
 */
final class Ends {
  private static final int SIZE = 256;

  private final long[] numbers = new long[SIZE];
  private final @Nullable LockName[] names = new @Nullable LockName[SIZE];
  private final End[] ends = new End[SIZE];
  private int next;

  /** What an attempt did, and what ended it. */
  enum End {
    HOLD_RELEASED(Was.HELD, How.RELEASED),
    HOLD_TAKEN(Was.HELD, How.TAKEN),
    HOLD_GONE(Was.HELD, How.UNKNOWN),
    WAIT_RELEASED(Was.WAITING, How.RELEASED),
    WAIT_GONE(Was.WAITING, How.UNKNOWN);

    final Was was;
    final How how;

    End(Was was, How how) {
      this.was = was;
      this.how = how;
    }
  }

  void add(long number, LockName name, End end) {
    numbers[next] = number;
    names[next] = name;
    ends[next] = end;
    next = (next + 1) % SIZE;
  }

  @Nullable End get(long number, LockName name) {
    for (int i = 0; i < SIZE; i++) {
      if (numbers[i] == number && name.equals(names[i])) {
        return ends[i];
      }
    }
    return null;
  }
}
