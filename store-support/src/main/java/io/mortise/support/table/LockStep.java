package io.mortise.support.table;

import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.support.table.LockRecord.EndedAttempt;
import io.mortise.support.table.LockRecord.HoldEntry;
import io.mortise.support.table.LockRecord.WaiterEntry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One step of the {@link LockTable} on a whole record, and its result. {@link #apply(LockDocument,
 * Liveness, Function)} is for stores that keep a lock as a document under a version, or that
 * replicate a log of requests; the in-memory store takes the same steps on records that it owns.
 * Not thread-safe.
 */
public final class LockStep implements LockRecords<LockDocument, RuntimeException> {
  /** The number of waiters ahead whose sessions' ends are read. */
  private static final int LOOKED_AT = 8;

  /** Passed instead of a revision: fencing tokens follow the clock. */
  public static final long BY_CLOCK = -1;

  /** Tokens that follow a higher revision would not be positive. */
  public static final long HIGHEST_REVISION = (1L << 46) - 1;

  /** The number of bits of a fencing token that count the grants of one revision. */
  private static final int BITS_BELOW_REVISION = 16;

  /**
   * Tokens reserved at the end of a revision's range, given out singly. A step joins at most 64
   * requests, each granting to itself and {@link LockTable#STEPS} waiters: 4,160.
   */
  private static final int SINGLE_TOKENS = 8_192;

  private final Liveness liveness;
  private final boolean remembersAllEnds;
  private final List<AttemptId> obsolete = new ArrayList<>();
  private final List<SessionNotification> notifications = new ArrayList<>();
  private @Nullable LockDocument document;
  private boolean changed;
  private long revision = BY_CLOCK;

  /** A step's view of sessions. */
  public interface Liveness {
    /** For how many microseconds a session lives without a further renewal; 0 if it has ended. */
    long left(SessionId session, long now);

    /** Whether a grant would reach the process of a live session at once; true if unknown. */
    boolean isConnected(SessionId session);

    /** The client of a session, for people; null if that is not known any more. */
    @Nullable ClientLabel client(SessionId session, long now);

    /** How long a session lives after each renewal; zero if that is not known any more. */
    Duration ttl(SessionId session);

    /** See {@link io.mortise.admin.LockParticipant}. */
    default @Nullable Duration renewedAgo(SessionId session, long now) {
      return null;
    }
  }

  /**
   * The result of a step.
   *
   * @param <T> its reply
   * @param document the record after the step; null if there is none
   * @param changed whether the record has to be written
   * @param obsolete attempts whose earlier notifications have to be dropped, before those of this
   *     step are kept
   * @param notifications for the sessions of their attempts, in order; those of ended sessions are
   *     to be dropped
   */
  public record StepResult<T>(
      @Nullable LockDocument document,
      boolean changed,
      T reply,
      List<AttemptId> obsolete,
      List<SessionNotification> notifications) {}

  public LockStep(@Nullable LockDocument document, Liveness liveness, boolean remembersAllEnds) {
    this.document = document;
    this.liveness = liveness;
    this.remembersAllEnds = remembersAllEnds;
  }

  /**
   * Executes one request, as {@link #apply(LockDocument, Liveness, Function)} does any step.
   *
   * @param document the record of the request's lock, null if there is none
   * @param now microseconds of the store's clock
   */
  static StepResult<Reply> apply(
      @Nullable LockDocument document, Request request, Liveness liveness, long now) {
    return apply(document, liveness, table -> table.apply(request, now));
  }

  /**
   * Takes one step. A pure function: it changes none of its arguments, and equal arguments give
   * equal results.
   *
   * @param document the record of the step's lock, null if there is none
   * @param liveness a snapshot. If sessions change independently of records, the notifications of
   *     an eviction are left first, and the step is repeated with the liveness after them: either a
   *     renewal counts in it, or it delivers them
   * @param step calls one method of the table, once
   */
  static <T> StepResult<T> apply(
      @Nullable LockDocument document,
      Liveness liveness,
      Function<LockTable<LockDocument, RuntimeException>, T> step) {
    return apply(document, BY_CLOCK, LockTable.STEPS, liveness, step);
  }

  /**
   * Takes one step for a clockless store, whose fencing tokens follow a revision.
   *
   * @param revision the store's revision when the record was read, which each write raises; or
   *     {@link #BY_CLOCK}
   * @param mostServed the most waiters that may be granted the lock: each makes the record longer
   */
  public static <T> StepResult<T> apply(
      @Nullable LockDocument document,
      long revision,
      int mostServed,
      Liveness liveness,
      Function<LockTable<LockDocument, RuntimeException>, T> step) {
    LockStep records = new LockStep(document == null ? null : document.copy(), liveness, false);
    records.revision = revision;
    T reply = step.apply(LockTable.serving(mostServed, records));
    return new StepResult<>(
        records.document, records.changed, reply, records.obsolete, records.notifications);
  }

  public @Nullable LockDocument document() {
    return document;
  }

  public List<AttemptId> obsolete() {
    return obsolete;
  }

  public List<SessionNotification> notifications() {
    return notifications;
  }

  @Override
  public @Nullable LockDocument find(LockName name) {
    return document;
  }

  @Override
  public LockDocument create(LockName name, int capacity, long now) {
    LockDocument made = new LockDocument(name, capacity);
    document = made;
    changed = true;
    return made;
  }

  @Override
  public void shut(LockDocument lock, HoldEntry hold, long now) {
    LockRecords.super.shut(lock, hold, now);
    if (revision != BY_CLOCK && hold.atLeast != null && hold.atLeastUntil > now) {
      lock.shutBy.put(hold.attempt, hold.atLeast);
    }
  }

  @Override
  public void save(LockDocument lock) {
    if (lock.shutUntil == 0) {
      lock.shutBy.clear();
    }
    changed |= lock.dirty;
    lock.dirty = false;
  }

  @Override
  public void delete(LockDocument lock) {
    document = null;
    changed = true;
  }

  @Override
  public @Nullable HoldEntry hold(LockDocument lock, AttemptId attempt) {
    return lock.holders.get(attempt);
  }

  @Override
  public List<HoldEntry> holds(LockDocument lock, int limit) {
    return lock.holders.values().stream().limit(limit).toList();
  }

  @Override
  public void add(LockDocument lock, HoldEntry hold) {
    lock.holders.put(hold.attempt, hold);
    changed = true;
  }

  @Override
  public void update(LockDocument lock, HoldEntry hold) {
    changed = true;
  }

  @Override
  public void remove(LockDocument lock, HoldEntry hold) {
    lock.holders.remove(hold.attempt);
    changed = true;
  }

  @Override
  public void rotate(LockDocument lock, int count) {
    for (HoldEntry hold : holds(lock, count)) {
      lock.holders.remove(hold.attempt);
      lock.holders.put(hold.attempt, hold);
      changed = true;
    }
  }

  @Override
  public @Nullable WaiterEntry waiter(LockDocument lock, AttemptId attempt) {
    Long ticket = lock.tickets.get(attempt);
    return ticket == null ? null : lock.queue.get(ticket);
  }

  @Override
  public List<WaiterEntry> waiters(LockDocument lock, long after, int limit) {
    return lock.queue.tailMap(after, false).values().stream().limit(limit).toList();
  }

  @Override
  public void add(LockDocument lock, WaiterEntry waiter) {
    lock.queue.put(waiter.ticket(), waiter);
    lock.tickets.put(waiter.attempt(), waiter.ticket());
    changed = true;
  }

  @Override
  public boolean removeWaiter(LockDocument lock, AttemptId attempt) {
    Long ticket = lock.tickets.remove(attempt);
    changed |= ticket != null;
    return ticket != null && lock.queue.remove(ticket) != null;
  }

  @Override
  public long soonestEnd(LockDocument lock, long ticket, long now) {
    Stream<WaiterEntry> ahead = lock.queue.headMap(ticket, false).values().stream();
    return ahead
        .limit(LOOKED_AT)
        .mapToLong(waiter -> left(waiter.attempt().session(), now))
        .filter(left -> left > 0)
        .map(left -> now + left)
        .min()
        .orElse(LockRecord.NEVER);
  }

  @Override
  public void remember(LockDocument lock, EndedAttempt ended) {
    LockRecords.super.remember(lock, ended);
    if (remembersAllEnds) {
      lock.ends.put(ended.attempt(), ended);
    }
  }

  @Override
  public @Nullable EndedAttempt remembered(LockDocument lock, AttemptId attempt) {
    return remembersAllEnds ? lock.ends.get(attempt) : LockRecords.super.remembered(lock, attempt);
  }

  @Override
  public long left(SessionId session, long now) {
    return liveness.left(session, now);
  }

  @Override
  public long tokenSeed(long now) {
    return revision == BY_CLOCK ? now : revision << BITS_BELOW_REVISION;
  }

  /**
   * The write of a step raises the revision: the next step mints above all tokens of this one, also
   * in a new record.
   */
  @Override
  public long tokenLimit(long now) {
    return revision == BY_CLOCK
        ? LockRecords.super.tokenLimit(now)
        : ((revision + 1) << BITS_BELOW_REVISION) - SINGLE_TOKENS;
  }

  @Override
  public boolean hasEnded(SessionId session, long now) {
    return liveness.left(session, now) == 0;
  }

  @Override
  public Predicate<WaiterEntry> disconnected(List<WaiterEntry> waiters) {
    return waiter -> !liveness.isConnected(waiter.attempt().session());
  }

  @Override
  public void tell(SessionNotification notification, long now) {
    notifications.add(notification);
  }

  @Override
  public void forgetNotifications(AttemptId ended) {
    obsolete.add(ended);
  }
}
