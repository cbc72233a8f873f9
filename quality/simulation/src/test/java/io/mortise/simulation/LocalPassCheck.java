package io.mortise.simulation;

import io.mortise.spi.AttemptId;
import java.util.HashMap;
import java.util.Map;

/**
 * Once a process knows that another waits, it passes the lock among its own threads for a short
 * time only. Times are on the process's clock, which may pass the end of the numbers: they are
 * subtracted, and never compared.
 */
final class LocalPassCheck {
  /** What the engine allows, and how late an event of a process may be. */
  static final long BOUND_NANOS = 5_100_000;

  private final Map<AttemptId, Long> knownAt = new HashMap<>();

  /** The process learns that another waits for what the attempt holds. */
  void knowsWanted(AttemptId attempt, long at) {
    knownAt.putIfAbsent(attempt, at);
  }

  /** The attempt's first lease begins: it could not be passed on before. */
  void begins(AttemptId attempt, long at) {
    knownAt.computeIfPresent(attempt, (unused, known) -> at);
  }

  /**
   * For how long another process was known to wait when the attempt's hold was passed on; 0 if that
   * is within the bound.
   */
  long excessOfPass(AttemptId attempt, long at) {
    Long known = knownAt.get(attempt);
    return known == null || at - known <= BOUND_NANOS ? 0 : at - known;
  }
}
