package io.mortise.admin;

import io.mortise.annotation.Beta;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A caller of this client that waits for a lock.
 *
 * @param name the lock's
 * @param waiter the caller that waits
 * @param waited its time so far; null for a wait without limit, whose begin is not recorded
 * @param holders callers of this client whose leases are in its way, at most 10. Leases that share
 *     the lock count once they leave too little together, or once the store has answered that the
 *     lock is held: other clients may hold shares or wait ahead then
 * @param heldElsewhere a holder of another client, of this process or of another, that the store
 *     has last named, as {@link LockParticipant#attempt()}; null if it named none. Without this and
 *     without holders it is not known here what is in the way: the lock may be shut, or changing
 *     hands
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

    /** {@code thread 'worker-1' (id 42)}, or that it is an asynchronous acquire. */
    @Override
    public String toString() {
      return isThread()
          ? "thread '" + thread + "' (id " + threadId + ")"
          : "an asynchronous acquire";
    }
  }
}
