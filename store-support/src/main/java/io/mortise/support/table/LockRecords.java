package io.mortise.support.table;

import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.support.table.LockRecord.EndedAttempt;
import io.mortise.support.table.LockRecord.HoldEntry;
import io.mortise.support.table.LockRecord.WaiterEntry;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Where a {@link LockTable} keeps its records: it reads and writes, and decides nothing. Used by
 * one thread at a time, for one step at a time, which is atomic: nobody else changes the record
 * between {@link #find} and the end of the step.
 *
 * <p>No method reads more than its limit, whatever the number of holders and waiters.
 *
 * @param <L> a record, with what the store needs to find its way in it
 * @param <X> what reading and writing may throw
 */
public interface LockRecords<L extends LockRecord, X extends Exception> {
  /**
   * The record of a lock, or null; asked first of all, and locked until the step ends, so that all
   * that is read after it is fresh.
   */
  @Nullable L find(LockName name) throws X;

  /** A record of a lock that has none. */
  L create(LockName name, int capacity, long now) throws X;

  /** Writes the record if it is {@linkplain LockRecord#dirty dirty}. */
  void save(L lock) throws X;

  /** Forgets the record, which is idle. */
  void delete(L lock) throws X;

  /** The hold of an attempt, or null. */
  @Nullable HoldEntry hold(L lock, AttemptId attempt) throws X;

  /** The first holders; a list of its own, which later changes leave as it is. */
  List<HoldEntry> holds(L lock, int limit) throws X;

  /** Adds a hold behind the others. */
  void add(L lock, HoldEntry hold) throws X;

  /** Writes a hold that was changed. */
  void update(L lock, HoldEntry hold) throws X;

  /** Removes a hold. */
  void remove(L lock, HoldEntry hold) throws X;

  /** Moves the first holders behind the others, in the same order. */
  void rotate(L lock, int count) throws X;

  /** The place of an attempt in the queue, or null. */
  @Nullable WaiterEntry waiter(L lock, AttemptId attempt) throws X;

  /** The waiters behind a ticket, in order. */
  List<WaiterEntry> waiters(L lock, long after, int limit) throws X;

  /** Adds a waiter at the end of the queue. */
  void add(L lock, WaiterEntry waiter) throws X;

  /** Removes a waiter; says whether it was there. */
  boolean removeWaiter(L lock, AttemptId attempt) throws X;

  /**
   * When the first session ends of the first waiters ahead of a ticket, or {@link
   * LockRecord#NEVER}. Those that have ended already do not count.
   */
  long soonestEnd(L lock, long ticket, long now) throws X;

  /** Notes how an attempt has ended. */
  default void remember(L lock, EndedAttempt ended) throws X {
    lock.lastEnd = ended;
    lock.dirty = true;
  }

  /** How an attempt has ended, if that is still known. */
  default @Nullable EndedAttempt remembered(L lock, AttemptId attempt) throws X {
    EndedAttempt last = lock.lastEnd;
    return last != null && last.attempt().equals(attempt) ? last : null;
  }

  /** For how many microseconds a session lives without a further renewal; 0 if it has ended. */
  long left(SessionId session, long now) throws X;

  /** The same of a holder's; also 0 if it has to be judged, whatever the clock says. */
  default long holderLeft(SessionId session, long now) throws X {
    return left(session, now);
  }

  /**
   * When a session ends unless it is renewed, by the store's clock; 0 if it has ended. No renewal
   * takes effect between this and the end of the step: it counts here, or it brings the session the
   * notifications of the step.
   */
  default long settledEnd(SessionId session, long now) throws X {
    long left = left(session, now);
    return left == 0 ? 0 : now + left;
  }

  /** The lower bound of the next fencing token: the store's clock, or what else only rises. */
  default long tokenSeed(long now) {
    return now;
  }

  /** Where a block of tokens that begins above the seed has to end, but for its first token. */
  default long tokenLimit(long now) {
    return now + LockTable.TOKEN_LEAD_MICROS;
  }

  /** Whether a session has ended for good, so that no renewal can come between. */
  boolean hasEnded(SessionId session, long now) throws X;

  /**
   * Tells by a waiter that its process would not hear of a grant now, since it has no connection;
   * false where nobody knows.
   *
   * @param waiters that it may be asked about
   */
  Predicate<WaiterEntry> disconnected(List<WaiterEntry> waiters) throws X;

  /** Leaves a notification for the attempt's session, unless that has ended. */
  void tell(SessionNotification notification, long now) throws X;

  /** Removes what was left of a hold, which has ended. */
  void forgetNotifications(AttemptId ended) throws X;
}
