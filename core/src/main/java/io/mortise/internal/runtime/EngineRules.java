package io.mortise.internal.runtime;

/**
 * The safety and liveness rules of the engine, one method each, so that the simulation can remove
 * them one at a time and prove that it would notice. Production code knows only {@link #ALL}.
 */
public class EngineRules {
  /** Every rule in force. */
  public static final EngineRules ALL = new EngineRules();

  /** For the constant above and for subclasses in tests. */
  protected EngineRules() {}

  /**
   * Validity counts from the request's sending, not its reply (invariants.md#validity-from-send).
   */
  public long validFrom(long sentAt, long receivedAt) {
    return sentAt;
  }

  /**
   * The margin subtracted from a time that the store keeps: clock rates may differ by 500 ppm on
   * each side, plus a fixed part.
   */
  public long safetyMargin(long nanos) {
    return nanos / 1000 + Math.max(Math.min(50_000_000, nanos / 10), nanos / 100);
  }

  /**
   * Whether unknown attempts in replies and notifications are ended (invariants.md#leftovers-end).
   */
  public boolean endsUnknownAttempts() {
    return true;
  }

  /**
   * Whether an attempt in doubt is ended again after the longest time a request can be in flight
   * (invariants.md#leftovers-end).
   */
  public boolean endsDoubtfulAgain() {
    return true;
  }

  /** Whether a wait polls without being pushed (invariants.md#every-wait-polls). */
  public boolean repeatsAcquire() {
    return true;
  }

  /** Whether only the first few waiters of a lock poll (invariants.md#few-waiters-poll). */
  public boolean restsBehindOthers() {
    return true;
  }

  /** Whether a waiter polls in place of one that has left (invariants.md#few-waiters-poll). */
  public boolean pollsInPlaceOfOthers() {
    return true;
  }

  /** Whether a failed renewal is followed by another (invariants.md#renewal-survives-failure). */
  public boolean retriesRenewal() {
    return true;
  }

  /**
   * Whether the session is lost at its deadline, regardless of the store's answers
   * (invariants.md#loss-at-deadline).
   */
  public boolean losesAtDeadline() {
    return true;
  }

  /**
   * Whether a refused renewal counts only if no later one was confirmed: concurrent tries may be
   * answered in any order.
   */
  public boolean ignoresOutdatedLoss() {
    return true;
  }

  /** Whether a grant under a shortened TTL waits for a renewal with the whole TTL. */
  public boolean restoresTtlBeforeGrant() {
    return true;
  }

  /** Whether only the store judges sessions, in a step of its own (invariants.md#judge-apart). */
  public boolean letsStoreJudge() {
    return true;
  }

  /**
   * Whether a lease depends on the members that granted it, and not on any majority
   * (invariants.md#votes-end-with-session).
   */
  public boolean countsVotes() {
    return true;
  }

  /**
   * Whether each local holder takes the next token of the block (one token per critical section).
   */
  public boolean takesFreshToken() {
    return true;
  }

  /**
   * Whether a hold counts for no longer than the shortest at-most time that a request in flight, or
   * a straggler, may set.
   */
  public boolean expectsStragglers() {
    return true;
  }

  /**
   * Whether no lease gets more time before all ended holds are known (invariants.md#gone-first).
   */
  public boolean appliesEndedHoldsFirst() {
    return true;
  }

  /** Whether an idle grant is released as soon as another process is known to want it. */
  public boolean givesBackIdleWhenCalled() {
    return true;
  }

  /** Whether a grant that another process is known to want is not kept idle. */
  public boolean keepsOnlyUnwanted() {
    return true;
  }

  /** Whether an idle grant is taken only while its session is valid and its notes arrive. */
  public boolean takesIdleOfValidSession() {
    return true;
  }

  /** Whether a grant that arrives after the session's deadline is discarded. */
  public boolean checksGrant() {
    return true;
  }

  /** Whether holds are confirmed one by one when the store may have forgotten grants. */
  public boolean revalidatesAfterRestart() {
    return true;
  }

  /** Whether a wait that ends early is ended in the store (invariants.md#cancel-in-store). */
  public boolean cancelsInStore() {
    return true;
  }

  /**
   * Whether local hand-off stops after a bounded number of passes while another process waits
   * (invariants.md#bounded-local-passes, fairness).
   */
  public boolean boundsPasses() {
    return true;
  }
}
