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
 * The storage of a {@link LockTable}: it reads and writes records, and decides nothing. Used by one
 * thread at a time, for one step at a time, which is atomic: no other step changes the record
 * between {@link #find} and the end of this one.
 *
 * <p>No method reads more than its limit, for any number of holders and waiters.
 *
 * @param <L> a record, with the store's own data in it
 * @param <X> the exception of reads and writes
 */
public interface LockRecords<L extends LockRecord, X extends Exception> {
  /**
   * The record of a lock, or null; read first, and locked until the step ends, so that all later
   * reads are fresh.
   */
  @Nullable L find(LockName name) throws X;

  /** Creates the record of a lock that has none. */
  L create(LockName name, int capacity, long now) throws X;

  /** Keeps the lock shut for the at-least time of a hold that ends. */
  default void shut(L lock, HoldEntry hold, long now) {
    lock.shutUntil = Math.max(lock.shutUntil, hold.atLeastUntil);
  }

  /** Writes the record if it is {@linkplain LockRecord#dirty dirty}. */
  void save(L lock) throws X;

  /** Deletes the record, which is idle. */
  void delete(L lock) throws X;

  /** The hold of an attempt, or null. */
  @Nullable HoldEntry hold(L lock, AttemptId attempt) throws X;

  /** The first holders, in a separate list, which later changes leave unchanged. */
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

  /** Removes a waiter; returns whether it was there. */
  boolean removeWaiter(L lock, AttemptId attempt) throws X;

  /**
   * The first end of a session among the first waiters ahead of a ticket, or {@link
   * LockRecord#NEVER}. Ended sessions do not count.
   */
  long soonestEnd(L lock, long ticket, long now) throws X;

  /** Records the end of an attempt. */
  default void remember(L lock, EndedAttempt ended) throws X {
    lock.lastEnd = ended;
    lock.dirty = true;
  }

  /** The end of an attempt, if it is still known. */
  default @Nullable EndedAttempt remembered(L lock, AttemptId attempt) throws X {
    EndedAttempt last = lock.lastEnd;
    return last != null && last.attempt().equals(attempt) ? last : null;
  }

  /** For how many microseconds a session lives without a further renewal; 0 if it has ended. */
  long left(SessionId session, long now) throws X;

  /** The rest of a holder's session; also 0 if it has to be judged, regardless of the clock. */
  default long holderLeft(SessionId session, long now) throws X {
    return left(session, now);
  }

  /**
   * The end of a session without a renewal, by the store's clock; 0 if it has ended. No renewal
   * takes effect between this call and the end of the step: either it counts here, or it delivers
   * the notifications of the step.
   */
  default long settledEnd(SessionId session, long now) throws X {
    long left = left(session, now);
    return left == 0 ? 0 : now + left;
  }

  /** The lower bound of the next fencing token: the store's clock, or another rising value. */
  default long tokenSeed(long now) {
    return now;
  }

  /** The upper bound of a block of tokens above the seed; its first token may exceed it. */
  default long tokenLimit(long now) {
    return now + LockTable.TOKEN_LEAD_MICROS;
  }

  /** Whether a session has ended for good, so that no renewal can intervene. */
  boolean hasEnded(SessionId session, long now) throws X;

  /**
   * Selects waiters whose process would not be notified of a grant now, because it has no
   * connection; false if that is unknown.
   *
   * @param waiters the waiters that it may be applied to
   */
  Predicate<WaiterEntry> disconnected(List<WaiterEntry> waiters) throws X;

  /** Leaves a notification for the attempt's session, unless that has ended. */
  void tell(SessionNotification notification, long now) throws X;

  /** Removes the notifications about an ended hold. */
  void forgetNotifications(AttemptId ended) throws X;
}
