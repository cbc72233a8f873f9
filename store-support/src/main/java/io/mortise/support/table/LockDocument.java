package io.mortise.support.table;

import io.mortise.LockName;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToLongBiFunction;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** A lock's whole record, with all its holders and waiters. */
public final class LockDocument extends LockRecord {
  /** In order of grant, but rotated if more hold than one step may examine. */
  final Map<AttemptId, HoldEntry> holders = new LinkedHashMap<>();

  /** The waiters by their tickets. */
  final TreeMap<Long, WaiterEntry> queue = new TreeMap<>();

  /** The tickets of the waiters. */
  final Map<AttemptId, Long> tickets = new HashMap<>();

  /** All ends, in a store whose records remember more than the last. */
  final Map<AttemptId, EndedAttempt> ends = new HashMap<>();

  /** In a clockless store: the ended holds whose at-least times keep the lock shut. */
  final Map<AttemptId, AtLeastTime> shutBy = new LinkedHashMap<>();

  /**
   * Names the split of the queue, if its later waiters stand in a document of their own; else 0.
   * The two belong together if both name the same split.
   */
  long split;

  /** The maximum number of waiters that are shown. */
  private static final int SHOWN = 1000;

  /** The record of an unused lock. */
  public LockDocument(LockName name, int capacity) {
    super(name, capacity);
  }

  /** An equal document that shares no mutable state. */
  LockDocument copy() {
    LockDocument copy = new LockDocument(name, capacity);
    copy.used = used;
    copy.lastToken = lastToken;
    copy.nextTicket = nextTicket;
    copy.waiters = waiters;
    copy.shutUntil = shutUntil;
    copy.touched = touched;
    copy.lastEnd = lastEnd;
    holders.forEach((attempt, hold) -> copy.holders.put(attempt, hold.copy()));
    copy.queue.putAll(queue);
    copy.tickets.putAll(tickets);
    copy.ends.putAll(ends);
    copy.shutBy.putAll(shutBy);
    copy.dirty = dirty;
    copy.split = split;
    return copy;
  }

  /** See {@link #splitOff}; 0 if all waiters are here. */
  public long split() {
    return split;
  }

  /** Whether the attempt holds the lock or waits for it, as far as this document tells. */
  public boolean knows(AttemptId attempt) {
    return holders.containsKey(attempt) || tickets.containsKey(attempt);
  }

  /** Whether it differs from another state of the same lock at most in the time of its last use. */
  public boolean isLike(LockDocument other) {
    LockDocument same = copy();
    same.touched = other.touched;
    return DocumentCodec.encode(same).equals(DocumentCodec.encode(other));
  }

  /** Whether one of the other document's waiters is here. Newcomers have later tickets. */
  public boolean hasWaiterOf(LockDocument before) {
    return !queue.headMap(before.nextTicket).isEmpty();
  }

  /**
   * The same lock with the waiters of a rear behind its own. A rear that was restored by hand may
   * have earlier tickets: those waiters queue again at their next poll.
   */
  public LockDocument withRear(LockDocument rear) {
    LockDocument whole = copy();
    whole.split = 0;
    long last = queue.isEmpty() ? LockTable.FRONT : queue.lastKey();
    rear.queue.tailMap(last, false).values().forEach(whole::enqueue);
    whole.nextTicket = Math.max(nextTicket, rear.nextTicket);
    return whole;
  }

  private void enqueue(WaiterEntry waiter) {
    if (!knows(waiter.attempt())) {
      queue.put(waiter.ticket(), waiter);
      tickets.put(waiter.attempt(), waiter.ticket());
      waiters++;
    }
  }

  /**
   * Adds a waiter behind the others, unless its attempt is there; returns how many stand ahead of
   * it.
   */
  public int enqueue(Request.Acquire request, long now) {
    Long ticket = tickets.get(request.attempt());
    if (ticket == null) {
      ticket = nextTicket++;
      enqueue(new WaiterEntry(request, ticket, now));
    }
    return queue.headMap(ticket).size();
  }

  /**
   * Moves all but the first waiters into a document that is returned.
   *
   * @param id names the split, and was not used for an earlier one of this lock; 0 if all waiters
   *     stay
   */
  public LockDocument splitOff(int kept, long id) {
    LockDocument rear = new LockDocument(name, capacity);
    rear.nextTicket = nextTicket;
    rear.touched = touched;
    rear.split = id;
    split = id;
    if (id != 0) {
      queue.values().stream().skip(kept).toList().forEach(rear::enqueue);
      rear.queue.values().forEach(this::remove);
    }
    return rear;
  }

  /** Removes the waiters that have come since another state of this lock, and returns them. */
  public List<Request.Acquire> removeNewcomers(LockDocument before) {
    List<WaiterEntry> newcomers = List.copyOf(queue.tailMap(before.nextTicket).values());
    newcomers.forEach(this::remove);
    nextTicket = before.nextTicket;
    return newcomers.stream().map(WaiterEntry::request).toList();
  }

  private void remove(WaiterEntry waiter) {
    queue.remove(waiter.ticket());
    tickets.remove(waiter.attempt());
    waiters--;
  }

  @Override
  void reset(int newCapacity) {
    super.reset(newCapacity);
    ends.clear();
  }

  /** Whether the attempt holds the lock. */
  public boolean isHeldBy(AttemptId attempt) {
    return holders.containsKey(attempt);
  }

  /** Whether the session has a hold, and knows that others want the lock: it is not told again. */
  public boolean isToldHolder(SessionId session) {
    return holders.values().stream()
        .anyMatch(hold -> hold.told && hold.attempt.session().equals(session));
  }

  /** Whether the lock was never used: the document was written only to change its version. */
  public boolean isUnused() {
    return touched == 0;
  }

  /**
   * In a clockless store: sets the end of holds that an operator has closed. The time in their
   * record is that of another process.
   *
   * @param left for how many microseconds a hold still stands, {@link LockRecord#NEVER} if its
   *     session is gone or not read yet. The recorded time then stays, and nothing depends on it
   */
  public void observeEvictions(ToLongFunction<AttemptId> left, long now) {
    for (HoldEntry hold : holders.values()) {
      if (hold.evicted) {
        long standsFor = left.applyAsLong(hold.attempt);
        hold.atMostUntil = standsFor == LockRecord.NEVER ? hold.atMostUntil : now + standsFor;
      }
    }
  }

  /**
   * In a clockless store: sets the ends of at-least times, which are those of this process, and
   * forgets those that are over. The next step writes that.
   *
   * @param left for how many microseconds an at-least time of a hold goes on
   */
  public void observeAtLeast(ToLongBiFunction<AttemptId, AtLeastTime> left, long now) {
    for (HoldEntry hold : holders.values()) {
      AtLeastTime time = hold.atLeast;
      hold.atLeastUntil = time == null ? 0 : now + left.applyAsLong(hold.attempt, time);
    }
    shutUntil = 0;
    for (Map.Entry<AttemptId, AtLeastTime> ended : List.copyOf(shutBy.entrySet())) {
      long still = left.applyAsLong(ended.getKey(), ended.getValue());
      if (still == 0) {
        shutBy.remove(ended.getKey());
        dirty = true;
      } else {
        shutUntil = Math.max(shutUntil, now + still);
      }
    }
  }

  /** The lock as shown to people. */
  public LockInfo view(LockStep.Liveness sessions, long now) {
    List<LockParticipant> shownHolders =
        holders.values().stream()
            .sorted(Comparator.comparingLong(hold -> hold.token))
            .map(hold -> holder(hold, sessions, now))
            .toList();
    List<LockParticipant> shownWaiters =
        queue.values().stream().limit(SHOWN).map(waiter -> waiter(waiter, sessions, now)).toList();
    long shut =
        holders.values().stream()
            .filter(hold -> sessions.left(hold.attempt.session(), now) == 0)
            .mapToLong(hold -> hold.atLeastUntil)
            .reduce(shutUntil, Math::max);
    return new LockInfo(
        name.value(),
        Mode.permits(capacity),
        lastToken,
        since(now, shut),
        shownHolders,
        shownWaiters,
        holders.size(),
        queue.size(),
        lastEndedHold());
  }

  /** The lock in a summary. */
  public LockInfo summary(long now) {
    HoldEntry first =
        holders.values().stream().min(Comparator.comparingLong(hold -> hold.token)).orElse(null);
    return LockInfo.summary(
        name.value(),
        Mode.permits(capacity),
        holders.size(),
        queue.size(),
        first == null
            ? null
            : first.attempt.holder(
                first.label, Mode.share(first.weight, capacity), since(first.since, now)),
        since(now, shutUntil));
  }

  private LockParticipant holder(HoldEntry hold, LockStep.Liveness sessions, long now) {
    return participant(
        hold.attempt,
        hold.label,
        hold.weight,
        hold.token,
        hold.since,
        hold.atMostUntil == LockRecord.NEVER ? null : since(now, hold.atMostUntil),
        sessions,
        now);
  }

  private LockParticipant waiter(WaiterEntry waiter, LockStep.Liveness sessions, long now) {
    Request.Acquire request = waiter.request();
    return participant(
        waiter.attempt(),
        request.terms().label(),
        request.mode().weight(),
        0,
        waiter.since(),
        null,
        sessions,
        now);
  }

  private LockParticipant participant(
      AttemptId attempt,
      String label,
      int weight,
      long token,
      long began,
      @Nullable Duration atMost,
      LockStep.Liveness sessions,
      long now) {
    SessionId session = attempt.session();
    return attempt.participant(
        sessions.client(session, now),
        label,
        Mode.share(weight, capacity),
        token,
        since(began, now),
        LockRecord.duration(sessions.left(session, now)),
        atMost,
        sessions.ttl(session),
        sessions.renewedAgo(session, now));
  }

  private static Duration since(long from, long to) {
    return LockRecord.duration(Math.max(0, to - from));
  }
}
