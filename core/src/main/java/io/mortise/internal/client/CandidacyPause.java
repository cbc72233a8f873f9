package io.mortise.internal.client;

import io.mortise.internal.runtime.EngineEnv;

/**
 * The pause of a candidate before its next attempt: 100 ms, doubled after each further failure, at
 * most 10 s. Guarded by its candidate.
 */
final class CandidacyPause {
  private static final long SHORTEST_NANOS = 100_000_000;
  private static final long LONGEST_NANOS = 10_000_000_000L;

  /** The 7th doubling of the shortest pause exceeds the longest. */
  private static final int MOST_DOUBLINGS = 7;

  /** A term of at least this length is no sign of trouble. */
  private static final long LASTING_NANOS = 10_000_000_000L;

  private final EngineEnv env;
  private int failures;

  CandidacyPause(EngineEnv env) {
    this.env = env;
  }

  /** Records that an attempt to lead was refused. */
  void refused() {
    failures++;
  }

  /**
   * Records the end of a term.
   *
   * @param asked whether its task was asked to end
   */
  void termEnded(boolean asked, long lastedNanos) {
    failures = asked || lastedNanos >= LASTING_NANOS ? 0 : failures + 1;
  }

  long nanos() {
    int doublings = Math.min(MOST_DOUBLINGS, Math.max(0, failures - 1));
    return env.jittered(Math.min(LONGEST_NANOS, SHORTEST_NANOS << doublings));
  }
}
