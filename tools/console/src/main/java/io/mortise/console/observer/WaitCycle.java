package io.mortise.console.observer;

import java.time.Instant;
import java.util.List;

/**
 * A possible deadlock.
 *
 * @param sessions that wait for each other
 * @param locks that they wait for
 * @param since the begin of the last of the waits
 */
public record WaitCycle(List<String> sessions, List<String> locks, Instant since) {
  /** Copies the lists. */
  public WaitCycle {
    sessions = List.copyOf(sessions);
    locks = List.copyOf(locks);
  }
}
