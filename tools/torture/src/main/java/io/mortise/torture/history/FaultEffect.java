package io.mortise.torture.history;

import io.mortise.torture.history.HistoryViolation.SafetyRule;
import java.util.Set;

/**
 * The permitted effects of a fault on correct processes.
 *
 * @param delay how long a wanted lock may stay without a holder
 * @param mayBreak promises suspended until two TTLs after it
 * @param setsTokensBack whether the store's tokens restart from a lower value, and take longer than
 *     that to pass the former ones
 */
public record FaultEffect(DelayBound delay, Set<SafetyRule> mayBreak, boolean setsTokensBack) {
  /** Copies the set. */
  public FaultEffect {
    mayBreak = Set.copyOf(mayBreak);
  }

  /** A fault after which the store continues with greater tokens. */
  public FaultEffect(DelayBound delay, Set<SafetyRule> mayBreak) {
    this(delay, mayBreak, false);
  }

  /** A fault that breaks no promise. */
  public static FaultEffect of(DelayBound delay) {
    return new FaultEffect(delay, Set.of());
  }

  /** Whether it silences the affected process. */
  boolean isSilence() {
    return delay == DelayBound.PROCESS || delay == DelayBound.STORE;
  }

  /** Whether it affects a process that only waits, in a special queue. */
  boolean isOfWaiter() {
    return delay == DelayBound.WAITER || delay == DelayBound.WAITER_BY_SESSION;
  }

  /** The bound of the time that a lock may stay taken, and its begin. */
  public enum DelayBound {
    /** Pushes, requests or answers are lost: a third of a TTL from the fault's end. */
    LOST_WORD(SafetyRule.LOST_WORD),
    /** All requests of a process are slow: a TTL from the begin of a wait. */
    SLOW(SafetyRule.SLOW),
    /** A process is silent: a TTL from the fault's begin. */
    PROCESS(SafetyRule.CRASH_RELEASE),
    /**
     * A process in a queue dies, or one that holds locks awaited there: its waits cause no delay,
     * and its possible holds are free a TTL and half a second later.
     */
    WAITER(SafetyRule.KILLED_WAITER),
    /**
     * The same in stores that detect dead waiters by the end of sessions only: a TTL and half a
     * second after the last death.
     */
    WAITER_BY_SESSION(SafetyRule.QUEUE),
    /**
     * The store does not answer, or has lost its data: a TTL and half a second from the fault's
     * end. If it affects a process, that process blocks the store for all others.
     */
    STORE(SafetyRule.RETURN);

    final SafetyRule rule;

    DelayBound(SafetyRule rule) {
      this.rule = rule;
    }
  }
}
