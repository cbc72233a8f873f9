package io.mortise.simulation;

import io.mortise.spi.AttemptId;
import java.util.HashMap;
import java.util.Map;

/**
 * A process that knows of a waiter elsewhere passes the lock among its own threads for a short time
 * only. Times are on the process's clock, which may overflow: they are subtracted, never compared.
 */
final class LocalPassCheck {
  /** The bound of the engine, plus the delay of a process's events. */
  static final long BOUND_NANOS = 5_100_000;

  private final Map<AttemptId, Long> knownAt = new HashMap<>();

  /** The process learns that another one waits for the attempt's lock. */
  void knowsWanted(AttemptId attempt, long at) {
    knownAt.putIfAbsent(attempt, at);
  }

  /** The attempt's first lease begins; the hold could not be passed on before. */
  void begins(AttemptId attempt, long at) {
    knownAt.computeIfPresent(attempt, (unused, known) -> at);
  }

  /**
   * Returns for how long a waiting process was known when the attempt's hold was passed on; 0
   * within the bound.
   */
  long excessOfPass(AttemptId attempt, long at) {
    Long known = knownAt.get(attempt);
    return known == null || at - known <= BOUND_NANOS ? 0 : at - known;
  }
}
