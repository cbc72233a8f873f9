package io.mortise.support.table;

import io.mortise.spi.AttemptId;
import java.time.Duration;

/**
 * The safety rules of a lock table, one method each, so that the simulation can remove them one at
 * a time and prove that it would notice. Production code knows only {@link #ALL}.
 */
public class TableRules {
  /** Every rule in force. */
  public static final TableRules ALL = new TableRules();

  /** For the constant above and for subclasses in tests. */
  protected TableRules() {}

  /**
   * A late acquire of a session that ended must not be granted
   * (invariants.md#acquire-needs-session).
   */
  protected boolean acquireNeedsLiveSession() {
    return true;
  }

  /** Only the attempt that holds can end its hold (invariants.md#attempt-identity). */
  protected boolean endsOnlyItsOwn() {
    return true;
  }

  /** Whether an attempt that may end others' holds ends this one. */
  protected boolean endsHold(AttemptId holder, AttemptId asked) {
    return holder.equals(asked);
  }

  /**
   * The first contender leaves a note for the holder, so that leftovers of lost replies die
   * (invariants.md#leftovers-end).
   */
  protected boolean tellsHolder() {
    return true;
  }

  /** A contender serves the queue's head, not itself (invariants.md#head-is-served). */
  protected boolean servesHead() {
    return true;
  }

  /** A dead waiter is skipped, so that its death does not stop the queue. */
  protected boolean skipsDeadWaiters() {
    return true;
  }

  /** A waiter that would not be notified of its grant is passed over, and keeps its place. */
  protected boolean skipsDisconnected() {
    return true;
  }

  /**
   * The last end is remembered: a repeated release answers the same, a late repeated acquire is
   * refused (invariants.md#end-is-remembered).
   */
  protected boolean remembersEnd() {
    return true;
  }

  /** Notifications of a hold are dropped with it: an engine would have to answer them. */
  protected boolean forgetsNotificationsOfEnded() {
    return true;
  }

  /** Ended holds are delivered before all else (invariants.md#gone-first). */
  protected boolean deliversEndedHoldsFirst() {
    return true;
  }

  /**
   * How long an idle record is kept, for its token counter and its remembered end
   * (invariants.md#record-retention, invariants.md#end-is-remembered).
   */
  protected Duration retention() {
    return LockTable.RETENTION;
  }

  /**
   * The maximum number of items in one step; the answer then says that more is left
   * (invariants.md#bounded-steps).
   */
  protected int steps() {
    return LockTable.STEPS;
  }

  /**
   * The first token of the next block: above all before, and above all minted before the counter
   * was lost (invariants.md#tokens-rise).
   */
  protected long nextToken(long last, long nowMicros, long floor) {
    return Math.max(Math.max(last + 1, nowMicros), floor);
  }

  /**
   * A beat that is neither the last nor its successor belongs to a clone
   * (invariants.md#beat-compare-and-set).
   */
  protected boolean acceptsBeat(long stored, long previous, long next) {
    return stored == previous || stored == next;
  }

  /** Whether a session whose TTL has passed is dead, even if it has holds. */
  protected boolean isExpired(long expiresAt, long nowMicros) {
    return expiresAt <= nowMicros;
  }
}
