package io.mortise.torture.history;

/**
 * A violation of a promise.
 *
 * @param rule the broken promise
 * @param lock the name of the lock
 * @param nanos the earliest time of its detection
 * @param text a description
 * @param worker the worker of the hold; 0 if there is no single one
 * @param token of the hold; 0 if there is none
 */
public record HistoryViolation(
    SafetyRule rule, String lock, long nanos, String text, int worker, long token) {
  /** A violation without a single worker. */
  public HistoryViolation(SafetyRule rule, String lock, long nanos, String text) {
    this(rule, lock, nanos, text, 0, 0);
  }

  /** The promises. */
  public enum SafetyRule {
    /** Two workers never see their leases valid at the same time. */
    EXCLUSION("no two at a time believe that they hold"),
    /** No token is issued twice. */
    UNIQUE_TOKENS("every hold has a token of its own"),
    /** A request made after another hold gets a greater token. */
    RISING_TOKENS("tokens rise"),
    /** A resource that checks tokens keeps every accepted update. */
    NO_LOST_UPDATE("the guarded resource loses no update"),
    /** A resource that checks tokens never refuses a holder with a valid lease. */
    NO_RIGHTFUL_REFUSAL("the guarded resource refuses no valid holder"),
    /** No try is answered "busy" without another holder or contender. */
    HONEST_BUSY("busy means that somebody holds or waits"),
    /** While the store is unreachable, no try is answered "busy" about other processes' locks. */
    OUTAGE("an outage is never told as busy"),
    /** A waiter has the lock soon after its release. */
    WAKE_UP("a waiter has the lock within TTL/3 after it was given back"),
    /** Lost messages keep a lock taken for no longer than the polling interval. */
    LOST_WORD("lost replies, requests and pushes delay by TTL/3"),
    /** A slow client causes no longer delay than a dead one. */
    SLOW("a slow network delays by less than a TTL"),
    /** The holds of a silent process go to a waiter within TTL + 0.5 s. */
    CRASH_RELEASE("a dead or silent process's locks are free within TTL + 0.5 s"),
    /** A killed waiter delays no other. */
    KILLED_WAITER("a waiter that was killed delays nobody by more than 0.5 s"),
    /** Live waiters are served, whichever process dies. */
    QUEUE("after a crash a waiter has the lock within TTL + 1 s"),
    /** After an outage or loss of data of the store locks can be acquired again. */
    RETURN("locks work within TTL + 1 s of a server's return or loss of data"),
    /** With fair locks no request overtakes a waiter already in the store's queue. */
    FIFO("fair locks are given in the order of their queue"),
    /** A live process that asks is served now and then while others are. */
    PROGRESS("no process goes without while others are served"),
    /** Every lock can be acquired when the faults are over. */
    RECOVERY("every lock can be had again after the faults"),
    /** There are no holds and waits when all processes have given up. */
    NO_LEAK("nothing is left behind");

    private final String promise;

    SafetyRule(String promise) {
      this.promise = promise;
    }

    /** The promise in words. */
    public String promise() {
      return promise;
    }
  }
}
