package io.mortise.admin;

import io.mortise.annotation.Beta;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A caller of this client that waits for a lock, with the known obstacles.
 *
 * @param name the lock's name
 * @param waiter the caller that waits
 * @param waited its waiting time so far; null for a wait without limit, whose begin is not recorded
 * @param holders callers of this client whose leases are in its way, at most 10. Leases that share
 *     the lock count if together they leave too little, or if the store has answered that the lock
 *     is held: other clients may then hold shares or wait ahead
 * @param heldElsewhere the holder of another client, in this process or another, that the store
 *     named last, as {@link LockParticipant#attempt()}; null if it named none. If this and the
 *     holders are missing, the obstacle is not known here: the lock may be shut, or changing hands
 */
@Beta
public record LocalWait(
    String name,
    LocalCaller waiter,
    @Nullable Duration waited,
    List<LocalCaller> holders,
    @Nullable String heldElsewhere) {
  /** Copies the list. */
  public LocalWait {
    holders = List.copyOf(holders);
  }

  /**
   * A caller that acquires or has acquired a lock in this process.
   *
   * @param thread the name of the thread; empty for an asynchronous acquire, which has none: its
   *     lease may be used by any thread
   * @param threadId its {@link Thread#getId()}; 0 for an asynchronous acquire
   */
  public record LocalCaller(String thread, long threadId) {
    /** An asynchronous acquire. */
    public static final LocalCaller ASYNCHRONOUS = new LocalCaller("", 0);

    /** A thread. */
    public static LocalCaller of(Thread thread) {
      return new LocalCaller(thread.getName(), thread.getId());
    }

    /** Whether it is a thread. */
    public boolean isThread() {
      return threadId != 0;
    }

    /** {@code thread 'worker-1' (id 42)}, or a text for an asynchronous acquire. */
    @Override
    public String toString() {
      return isThread()
          ? "thread '" + thread + "' (id " + threadId + ")"
          : "an asynchronous acquire";
    }
  }
}
