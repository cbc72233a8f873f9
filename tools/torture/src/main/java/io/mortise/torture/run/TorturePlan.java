package io.mortise.torture.run;

import java.time.Duration;
import java.util.Set;

/**
 * What to do, and for how long.
 *
 * @param time how long faults go on; some seconds more are spent to start, to recover and to check
 * @param ttl of the sessions
 * @param processes clients
 * @param threads of each, besides two that are there to be broken
 * @param hot locks that all of them want
 * @param bulk how many more locks each process takes at a time, only counting them; 0 for none
 * @param faults what goes wrong; contains {@link InjectedFault#PAUSE}, without which no control is
 *     loud
 * @param patience how much longer than a TTL the locks of a dead process may take
 * @param seed of all that is drawn at random
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
   * Checks what is asked for.
   *
   * @throws IllegalArgumentException if it makes no sense
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

  /** Whether processes are needed that only stand in a queue. */
  boolean hasWaiters() {
    return faults.contains(InjectedFault.KILL_WAITER) || faults.contains(InjectedFault.KILL_CHAIN);
  }

  /** Longer than a TTL: for so long a client or server is away. */
  Duration overlong() {
    return ttl.multipliedBy(5).dividedBy(2);
  }
}
