package io.mortise.torture.history;

import io.mortise.torture.history.Finding.Rule;
import java.util.Set;

/**
 * What a fault may do to those who do what they should.
 *
 * @param delay for how long nobody may hold a lock that somebody wants
 * @param mayBreak promises that do not hold until two TTLs after it
 */
public record Effect(Delay delay, Set<Rule> mayBreak) {
  /** Copies the set. */
  public Effect {
    mayBreak = Set.copyOf(mayBreak);
  }

  /** One that breaks no promise. */
  public static Effect of(Delay delay) {
    return new Effect(delay, Set.of());
  }

  /** Whether a process to which it is done is not heard of. */
  boolean isSilence() {
    return delay == Delay.PROCESS || delay == Delay.STORE;
  }

  /** Whether it is done to a process that only waits, in a queue of its own kind. */
  boolean isOfWaiter() {
    return delay == Delay.WAITER || delay == Delay.WAITER_BY_SESSION;
  }

  /** For how long a lock may stay shut, and from when that is counted. */
  public enum Delay {
    /** Pushes, requests or answers are lost: a third of a TTL from its end. */
    LOST_WORD(Rule.LOST_WORD),
    /** Everything that a process asks for takes its time: a TTL from whenever somebody waits. */
    SLOW(Rule.SLOW),
    /** A process is not heard of: a TTL from its beginning. */
    PROCESS(Rule.CRASH_RELEASE),
    /**
     * A process that waits in a queue dies, or holds what others wait for there: its waits delay
     * nobody, and what it may have held is free a TTL and half a second later.
     */
    WAITER(Rule.KILLED_WAITER),
    /**
     * The same where the store finds out by a session's end alone that a waiter has died: a TTL and
     * half a second after the last death.
     */
    WAITER_BY_SESSION(Rule.QUEUE),
    /**
     * The store does not answer, or has forgotten: a TTL and half a second from its end. Done to a
     * process, it keeps the store from all others.
     */
    STORE(Rule.RETURN);

    final Rule rule;

    Delay(Rule rule) {
      this.rule = rule;
    }
  }
}
