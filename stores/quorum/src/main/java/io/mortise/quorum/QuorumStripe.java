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

  /** By the number that the attempt has for the engine. */
  final Map<Long, QuorumAttempt> attempts = new HashMap<>();

  /**
   * The last of those that were ended or failed, where members know more of them than their number.
   * Who waits asks again for one that failed; who only tried never speaks of it again.
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

  /** The highest number that has fallen out of these. */
  private long forgotten = Long.MIN_VALUE;

  /** An attempt that was not ended: asked for, held, or failed lately. */
  @Nullable QuorumAttempt known(long number) {
    QuorumAttempt quorumAttempt = attempts.get(number);
    QuorumAttempt failed = quorumAttempt == null ? past.get(number) : null;
    return failed == null || failed.ended ? quorumAttempt : failed;
  }

  /** Whether an attempt of which nothing is known may be one of which something was. */
  boolean mayHaveForgotten(long number) {
    return number <= forgotten;
  }
}
