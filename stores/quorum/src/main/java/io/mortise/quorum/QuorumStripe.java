package io.mortise.quorum;

import io.mortise.internal.queue.OutboxLock;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A share of a session's attempts under one lock; the requests of a name reach each member in the
 * order in which they were decided.
 */
final class QuorumStripe extends OutboxLock {
  private static final int PAST = 32;

  /** By the attempt's number at the engine. */
  final Map<Long, QuorumAttempt> attempts = new HashMap<>();

  /**
   * The last ended or failed attempts that the members know by more than their number. A waiter
   * retries a failed one; an attempt that only tried is never mentioned again.
   */
  final Map<Long, QuorumAttempt> past =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, QuorumAttempt> eldest) {
          boolean tooMany = size() > PAST;
          if (tooMany) {
            forgotten = Math.max(forgotten, eldest.getKey());
          }
          return tooMany;
        }
      };

  /** The highest number that has been dropped from these. */
  private long forgotten = Long.MIN_VALUE;

  /** An attempt that was not ended: requested, held, or recently failed. */
  @Nullable QuorumAttempt known(long number) {
    QuorumAttempt quorumAttempt = attempts.get(number);
    QuorumAttempt failed = quorumAttempt == null ? past.get(number) : null;
    return failed == null || failed.ended ? quorumAttempt : failed;
  }

  /** Whether an unknown attempt may be a dropped one. */
  boolean mayHaveForgotten(long number) {
    return number <= forgotten;
  }
}
