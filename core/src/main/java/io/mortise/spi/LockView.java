package io.mortise.spi;

import io.mortise.LockName;
import io.mortise.admin.EndedHold;
import io.mortise.admin.LockSummary;
import io.mortise.annotation.Beta;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * What a store knows of one lock at one moment.
 *
 * @param capacity see {@link Mode}
 * @param lastToken the greatest token minted for this name; 0 if none is known
 * @param shutFor how long nobody can be granted the lock; zero if it is not shut. The at-least time
 *     of a holder whose session has ended counts as well
 * @param holders in the order in which they were granted
 * @param waiters in the order in which they will be granted; at most 1000
 * @param waiterCount how many wait, with those that are not listed
 * @param lastEnd how the hold that ended last has ended; null if the store does not keep it. No
 *     store makes a request for it
 */
public record LockView(
    LockName name,
    int capacity,
    long lastToken,
    Duration shutFor,
    List<Participant> holders,
    List<Participant> waiters,
    @Beta int waiterCount,
    @Beta @Nullable EndedHold lastEnd) {
  /** Copies the lists. No fewer wait than are listed. */
  @Beta
  public LockView {
    holders = List.copyOf(holders);
    waiters = List.copyOf(waiters);
    waiterCount = Math.max(waiterCount, waiters.size());
  }

  /** The line of a survey that says the same. */
  @Beta
  public LockSummary summary() {
    Participant first = holders.isEmpty() ? null : holders.get(0);
    return new LockSummary(
        name.value(),
        permits(),
        holders.size(),
        waiterCount,
        first == null ? null : first.attempt().encoded(),
        first == null ? "" : first.label(),
        first == null ? Duration.ZERO : first.since(),
        shutFor);
  }

  /** How many permits the semaphore has; empty for locks and read/write locks. */
  public OptionalInt permits() {
    return permits(capacity);
  }

  /** As {@link #permits()}, of a lock with this capacity. */
  public static OptionalInt permits(int capacity) {
    return capacity == Mode.SHARERS ? OptionalInt.empty() : OptionalInt.of(capacity);
  }

  /**
   * A holder or waiter.
   *
   * @param client null if the store does not know it any more, as of a session that is over
   * @param token the first token of a holder; 0 for a waiter
   * @param since how long it has held or waited, by the store's time; zero if the store does not
   *     know
   * @param sessionLeft how long its session lives without a further renewal; zero if it has ended.
   *     In a store without a clock, of a session that nobody has judged: for how long this process
   *     has yet to see it without a renewal until it can be judged. A first look tells the whole
   *     TTL, also of a dead one
   * @param atMostLeft what is left of a holder's at-most time; null if there is none. A store
   *     without a clock tells of an evicted holder for how long this client has yet to watch it
   * @param sessionTtl how long its session lives after each renewal; zero if the store does not
   *     know it, or not any more
   * @param renewedAgo in a store without a clock of its own, of a session that nobody has judged:
   *     how long ago it was renewed, by the clock of its host and the clock here. Null elsewhere
   */
  public record Participant(
      AttemptId attempt,
      @Nullable ClientLabel client,
      String label,
      int weight,
      long token,
      Duration since,
      Duration sessionLeft,
      @Nullable Duration atMostLeft,
      @Beta Duration sessionTtl,
      @Beta @Nullable Duration renewedAgo) {
    /** With all that a store may know. */
    @Beta
    public Participant {}
  }
}
