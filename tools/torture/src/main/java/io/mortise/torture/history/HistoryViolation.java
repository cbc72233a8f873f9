package io.mortise.torture.history;

/**
 * Something that must not be.
 *
 * @param rule which promise is broken
 * @param lock of which lock
 * @param nanos when it could be seen first
 * @param text what happened, for people
 * @param worker whose hold it is; 0 if it is of nobody alone
 * @param token of that hold; 0 if there is none
 */
public record HistoryViolation(
    SafetyRule rule, String lock, long nanos, String text, int worker, long token) {
  /** Of nobody alone. */
  public HistoryViolation(SafetyRule rule, String lock, long nanos, String text) {
    this(rule, lock, nanos, text, 0, 0);
  }

  /** What is promised. */
  public enum SafetyRule {
    /** Two at a time never both see their leases valid. */
    EXCLUSION("no two at a time believe that they hold"),
    /** No token is given out twice. */
    UNIQUE_TOKENS("every hold has a token of its own"),
    /** Who asks after another held gets a greater token. */
    RISING_TOKENS("tokens rise"),
    /** A resource that checks tokens keeps every update that it took. */
    NO_LOST_UPDATE("the guarded resource loses no update"),
    /** A resource that checks tokens does not refuse whose lease is valid. */
    NO_RIGHTFUL_REFUSAL("the guarded resource refuses no valid holder"),
    /** Nobody is told "busy" where nobody else holds or wants to. */
    HONEST_BUSY("busy means that somebody holds or waits"),
    /** While the store cannot be reached, nobody is told "busy" of a lock that others hold. */
    OUTAGE("an outage is never told as busy"),
    /** A waiter has the lock soon after it was given back. */
    WAKE_UP("a waiter has the lock within TTL/3 after it was given back"),
    /** Lost words keep a lock shut for no longer than it takes to ask again. */
    LOST_WORD("lost replies, requests and pushes delay by TTL/3"),
    /** A slow client delays no longer than a dead one. */
    SLOW("a slow network delays by less than a TTL"),
    /** What a process held that is not heard of goes to a waiter within TTL + 0.5 s. */
    CRASH_RELEASE("a dead or silent process's locks are free within TTL + 0.5 s"),
    /** One that was killed while it waited keeps nobody waiting. */
    KILLED_WAITER("a waiter that was killed delays nobody by more than 0.5 s"),
    /** Live waiters are served, whatever process dies. */
    QUEUE("after a crash a waiter has the lock within TTL + 1 s"),
    /** After the store was away, or has forgotten, locks can be had again. */
    RETURN("locks work within TTL + 1 s of a server's return or loss of data"),
    /** Where it is asked for, nobody is served before who waited in the store already. */
    FIFO("fair locks are given in the order of their queue"),
    /** Who lives and asks is served now and then, as long as others are. */
    PROGRESS("no process goes without while others are served"),
    /** Every lock can be had when the faults are over. */
    RECOVERY("every lock can be had again after the faults"),
    /** Nothing is held or waited for when everybody has given up. */
    NO_LEAK("nothing is left behind");

    private final String promise;

    SafetyRule(String promise) {
      this.promise = promise;
    }

    /** In words. */
    public String promise() {
      return promise;
    }
  }
}
