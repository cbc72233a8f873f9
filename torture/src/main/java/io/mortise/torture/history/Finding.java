package io.mortise.torture.history;

/**
 * Something that must not be.
 *
 * @param rule which promise is broken
 * @param lock of which lock
 * @param nanos when it could be seen first
 * @param text what happened, for people
 */
public record Finding(Rule rule, String lock, long nanos, String text) {
  /** What is promised. */
  public enum Rule {
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
    /** Nobody is told "busy" where nobody holds. */
    HONEST_BUSY("busy means that somebody holds"),
    /** What a killed process held goes to a waiter within TTL + 0.5 s. */
    CRASH_RELEASE("a killed process's locks are free within TTL + 0.5 s"),
    /** Every lock can be had when the faults are over. */
    RECOVERY("every lock can be had again after the faults"),
    /** Nothing is held or waited for when everybody has given up. */
    NO_LEAK("nothing is left behind");

    private final String promise;

    Rule(String promise) {
      this.promise = promise;
    }

    /** In words. */
    public String promise() {
      return promise;
    }
  }
}
