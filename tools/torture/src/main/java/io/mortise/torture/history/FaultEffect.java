package io.mortise.torture.history;

import io.mortise.torture.history.HistoryViolation.SafetyRule;
import java.util.Set;

/**
 * What a fault may do to those who do what they should.
 *
 * @param delay for how long nobody may hold a lock that somebody wants
 * @param mayBreak promises that do not hold until two TTLs after it
 * @param setsTokensBack whether the store counts tokens anew from a lower place, and takes longer
 *     than that to come by where they had been
 */
public record FaultEffect(DelayBound delay, Set<SafetyRule> mayBreak, boolean setsTokensBack) {
  /** Copies the set. */
  public FaultEffect {
    mayBreak = Set.copyOf(mayBreak);
  }

  /** One after which the store goes on with greater tokens. */
  public FaultEffect(DelayBound delay, Set<SafetyRule> mayBreak) {
    this(delay, mayBreak, false);
  }

  /** One that breaks no promise. */
  public static FaultEffect of(DelayBound delay) {
    return new FaultEffect(delay, Set.of());
  }

  /** Whether a process to which it is done is not heard of. */
  boolean isSilence() {
    return delay == DelayBound.PROCESS || delay == DelayBound.STORE;
  }

  /** Whether it is done to a process that only waits, in a queue of its own kind. */
  boolean isOfWaiter() {
    return delay == DelayBound.WAITER || delay == DelayBound.WAITER_BY_SESSION;
  }

  /** For how long a lock may stay shut, and from when that is counted. */
  public enum DelayBound {
    /** Pushes, requests or answers are lost: a third of a TTL from its end. */
    LOST_WORD(SafetyRule.LOST_WORD),
    /** Everything that a process asks for takes its time: a TTL from whenever somebody waits. */
    SLOW(SafetyRule.SLOW),
    /** A process is not heard of: a TTL from its beginning. */
    PROCESS(SafetyRule.CRASH_RELEASE),
    /**
     * A process that waits in a queue dies, or holds what others wait for there: its waits delay
     * nobody, and what it may have held is free a TTL and half a second later.
     */
    WAITER(SafetyRule.KILLED_WAITER),
    /**
     * The same where the store finds out by a session's end alone that a waiter has died: a TTL and
     * half a second after the last death.
     */
    WAITER_BY_SESSION(SafetyRule.QUEUE),
    /**
     * The store does not answer, or has forgotten: a TTL and half a second from its end. Done to a
     * process, it keeps the store from all others.
     */
    STORE(SafetyRule.RETURN);

    final SafetyRule rule;

    DelayBound(SafetyRule rule) {
      this.rule = rule;
    }
  }
}
