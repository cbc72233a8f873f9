package io.mortise.torture.run;

import java.time.Duration;
import java.util.Set;

/**
 * The parameters of a run.
 *
 * @param time the time of faults, without some seconds to start, recover and check
 * @param ttl of the sessions
 * @param processes clients
 * @param threads of each, without the two controls
 * @param hot locks wanted by all
 * @param bulk the number of further locks that each process acquires at a time, only counted; 0 for
 *     none
 * @param faults the faults; contains {@link InjectedFault#PAUSE}, without which no control breaks
 * @param patience the time beyond a TTL that locks of a dead process may take
 * @param seed of all random choices
 */
public record TorturePlan(
    Duration time,
    Duration ttl,
    int processes,
    int threads,
    int hot,
    int bulk,
    Set<InjectedFault> faults,
    Duration patience,
    long seed) {
  /**
   * Validates the parameters.
   *
   * @throws IllegalArgumentException if they make no sense
   */
  public TorturePlan {
    faults = Set.copyOf(faults);
    if (!faults.contains(InjectedFault.PAUSE)) {
      throw new IllegalArgumentException(
          "Faults must include 'pause': without it nothing shows that the checks see anything.");
    }
    if (processes < 2 || threads < 1 || hot < 1 || bulk < 0) {
      throw new IllegalArgumentException("Two processes, one thread, one lock are the least.");
    }
  }

  /** Whether processes that only wait in a queue are needed. */
  boolean hasWaiters() {
    return faults.contains(InjectedFault.KILL_WAITER) || faults.contains(InjectedFault.KILL_CHAIN);
  }

  /** The duration of an absence of a client or server: longer than a TTL. */
  Duration overlong() {
    return ttl.multipliedBy(5).dividedBy(2);
  }
}
