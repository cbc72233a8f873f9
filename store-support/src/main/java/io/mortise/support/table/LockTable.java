package io.mortise.support.table;

import io.mortise.LockName;
import io.mortise.admin.Eviction;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.AttemptState;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.support.internal.session.Refusals;
import io.mortise.support.table.LockRecord.EndedAttempt;
import io.mortise.support.table.LockRecord.HoldEntry;
import io.mortise.support.table.LockRecord.WaiterEntry;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Executes requests on a lock: the one lock table of all stores that keep records, in memory, in
 * rows or in documents. State and input go in, an answer comes out; there is no clock, no thread,
 * and no I/O except that of its {@link LockRecords}. It is also the specification with which stores
 * with steps of their own, such as Redis' script, are compared.
 *
 * <p><b>Records.</b> A lock has holders whose weights add up to at most its capacity, and a queue.
 * An attempt's state only moves forward: unknown, waiting, holding, ended. A repeated acquire is a
 * poll: it returns the attempt's state, and makes progress for the queue's head.
 *
 * <p><b>Dead sessions.</b> A hold outlives its session in the table until a contender, told the
 * blocking session, has it judged and returns with the proof; ending the hold then compares ids
 * only. Waiters are cheaper to judge: a wrong skip costs a place in the queue, so each step that
 * serves the queue drops waiters with ended sessions.
 *
 * <p><b>Bounded.</b> Every step touches at most 64 holders and 64 waiters; the rest is reported as
 * {@code more}, or is done by the next request. If more than 64 hold, each step examines the next
 * 64.
 *
 * <p><b>Time</b> is passed in: microseconds of the store's clock, read once per step, perhaps a
 * little before the record was locked. That errs to the safe side: a session that looks alive may
 * be dead, never the reverse, and at-most times are counted from after the engine sent the request.
 *
 * <p>Not thread-safe.
 *
 * @param <L> a record
 * @param <X> the exception of reads and writes
 */
public final class LockTable<L extends LockRecord, X extends Exception> {
  /** An idle record is kept this long, for its token counter and its remembered end. */
  public static final Duration RETENTION = Duration.ofMinutes(10);

  /**
   * The most holders, and the most waiters, that one step touches (invariants.md#bounded-steps).
   */
  public static final int STEPS = 64;

  /**
   * How far a block of tokens may exceed the store's clock, in µs (invariants.md#tokens-rise: the
   * seed covers a lost counter).
   */
  public static final long TOKEN_LEAD_MICROS = 1_000_000;

  /** The number of waiters read at a time. */
  public static final int CHUNK = 8;

  /** A ticket before the first one of a queue. */
  public static final long FRONT = -1;

  private final TableRules rules;
  private final LockRecords<L, X> records;

  /** Whether holds outlive their sessions until a contender brings the proof. */
  private final boolean proofs;

  /** The maximum number of waiters that one step grants the lock, or drops as dead. */
  private final int mostServed;

  /** A table under all rules, of a store with all capabilities. */
  public LockTable(LockRecords<L, X> records) {
    this(records, TableRules.ALL, Set.of(Capability.PROOF));
  }

  /**
   * A table under the given rules, of a store that may lack {@link Capability#PROOF}: it ends the
   * holds and waits of dead sessions by itself. Other missing capabilities make no difference here.
   */
  public LockTable(LockRecords<L, X> records, TableRules rules, Set<Capability> capabilities) {
    this(records, rules, capabilities, rules.steps());
  }

  private LockTable(
      LockRecords<L, X> records, TableRules rules, Set<Capability> capabilities, int mostServed) {
    this.records = records;
    this.rules = rules;
    this.proofs = capabilities.contains(Capability.PROOF);
    this.mostServed = mostServed;
  }

  /** A table whose steps serve at most this number of waiters, so that a record grows less. */
  static <L extends LockRecord, X extends Exception> LockTable<L, X> serving(
      int mostServed, LockRecords<L, X> records) {
    return new LockTable<>(records, TableRules.ALL, Set.of(Capability.PROOF), mostServed);
  }

  /** Executes one request. */
  public Reply apply(Request request, long now) throws X {
    if (request instanceof Request.Acquire acquire) {
      return acquire(acquire, now);
    } else if (request instanceof Request.Abandon abandon) {
      return abandon(abandon, now);
    }
    return adjust((Request.Adjust) request, now);
  }

  private Reply acquire(Request.Acquire request, long now) throws X {
    AttemptId attempt = request.attempt();
    L lock = records.find(request.name());
    if (isRefused(attempt, now)) {
      return Refusals.sessionGone(attempt);
    }
    if (lock == null) {
      lock = records.create(request.name(), request.mode().capacity(), now);
    } else if (isForgotten(lock, now)) {
      lock.reset(request.mode().capacity());
    }
    use(lock, now);
    if (lock.capacity != request.mode().capacity()) {
      return Refusals.capacityDiffers(
          attempt, request.name(), lock.capacity, request.mode().capacity());
    }
    endHoldsThatAreOver(lock, request.provenDead(), now);
    HoldEntry hold = records.hold(lock, attempt);
    EndedAttempt ended = hold == null ? remembered(lock, attempt) : null;
    if (ended != null) {
      records.save(lock);
      return Refusals.ended(attempt, ended.how());
    }
    if (hold == null) {
      boolean first = !rules.servesHead();
      if (rules.servesHead()) {
        first = serveQueue(lock, attempt, now) == QueueRemainder.ALL;
        hold = records.hold(lock, attempt);
      }
      if (hold == null && first && lock.fits(request.mode()) && lock.shutUntil <= now) {
        hold = grantToNewcomer(lock, request, now);
      }
    }
    Reply reply = hold == null ? contended(lock, request, now) : granted(lock, hold, now);
    records.save(lock);
    return reply;
  }

  private HoldEntry grantToNewcomer(L lock, Request.Acquire request, long now) throws X {
    if (!rules.servesHead()) {
      leave(lock, request.attempt());
    }
    HoldEntry hold = grant(lock, request, false, now);
    if (lock.waiters > 0 && rules.tellsHolder()) {
      // Waiters that were passed over notified an earlier holder. This answer may be lost.
      tellContended(lock, hold, now);
    }
    return hold;
  }

  private Reply contended(L lock, Request.Acquire request, long now) throws X {
    AttemptId attempt = request.attempt();
    HoldEntry inTheWay = null;
    long inTheWayLeft = 0;
    List<HoldEntry> window = window(lock);
    long mayBeFree = window.isEmpty() ? now : LockRecord.NEVER;
    if (lock.shutUntil > now) {
      mayBeFree = window.isEmpty() ? lock.shutUntil : Math.min(mayBeFree, lock.shutUntil);
    }
    for (HoldEntry hold : window) {
      long left = records.holderLeft(hold.attempt.session(), now);
      mayBeFree = Math.min(mayBeFree, Math.min(hold.atMostUntil, now + left));
      if (inTheWay == null || (left == 0 && inTheWayLeft != 0)) {
        inTheWay = hold;
        inTheWayLeft = left;
      }
      if (!hold.told && rules.tellsHolder()) {
        tellContended(lock, hold, now);
      }
    }
    if (inTheWayLeft != 0) {
      // Moves only past the living: a contender that returns with the proof must find the dead in
      // their old places.
      lookFurther(lock, window);
    }
    Reply.Holder holder =
        inTheWay == null
            ? null
            : new Reply.Holder(inTheWay.attempt, inTheWay.token, LockRecord.duration(inTheWayLeft));
    WaiterEntry waiter = lock.waiters == 0 ? null : records.waiter(lock, attempt);
    if (waiter == null && request.queue()) {
      waiter = new WaiterEntry(request, lock.nextTicket++, now);
      records.add(lock, waiter);
      lock.waiters++;
      lock.dirty = true;
    }
    if (waiter == null) {
      return new Reply.Busy(attempt, holder, retryAfter(mayBeFree, 0, now));
    }
    // Exact for a newcomer, which is last. Waiters ahead of others may have left.
    long places = waiter.ticket() - records.waiters(lock, FRONT, 1).get(0).ticket();
    long ahead = Math.min(places, lock.waiters - 1);
    if (ahead > 0) {
      // A waiter ahead that has died is dropped when its session ends.
      mayBeFree = Math.min(mayBeFree, records.soonestEnd(lock, waiter.ticket(), now));
    }
    return new Reply.Queued(
        attempt,
        (int) Math.min(ahead, Integer.MAX_VALUE),
        holder,
        retryAfter(mayBeFree, ahead, now));
  }

  private void tellContended(L lock, HoldEntry hold, long now) throws X {
    hold.told = true;
    hold.noted = true;
    records.update(lock, hold);
    records.tell(new SessionNotification.Contended(lock.name, hold.attempt), now);
  }

  /** The time when the lock may be free without a notification; one ms later for each place. */
  public static Duration retryAfter(long mayBeFree, long ahead, long now) {
    return LockRecord.duration(Math.max(0, mayBeFree - now) + 1000 * (1 + Math.min(ahead, 10_000)));
  }

  private HoldEntry grant(L lock, Request.Acquire request, boolean noted, long now) throws X {
    HoldEntry hold =
        new HoldEntry(request.attempt(), request.mode().weight(), request.terms().label(), now);
    hold.noted = noted;
    hold.restart(request.terms(), now);
    mint(lock, hold, request.tokens(), request.tokenFloor(), now);
    lock.used += hold.weight;
    records.add(lock, hold);
    return hold;
  }

  private void mint(L lock, HoldEntry hold, int tokens, long floor, long now) {
    hold.token = rules.nextToken(lock.lastToken, records.tokenSeed(now), floor);
    hold.tokens = (int) Math.min(tokens, Math.max(1, records.tokenLimit(now) - hold.token));
    lock.lastToken = hold.token + hold.tokens - 1;
    lock.dirty = true;
  }

  private Reply.Granted granted(L lock, HoldEntry hold, long now) throws X {
    if (!hold.told && lock.waiters > 0) {
      hold.told = true;
      records.update(lock, hold);
    }
    return new Reply.Granted(
        hold.attempt,
        hold.token,
        hold.tokens,
        hold.told,
        hold.atMostUntil == LockRecord.NEVER ? null : LockRecord.duration(hold.atMostUntil - now),
        null);
  }

  private Reply.Ended abandon(Request.Abandon request, long now) throws X {
    AttemptId attempt = request.attempt();
    L lock = find(request.name(), now);
    if (lock == null) {
      return new Reply.Ended(attempt, AttemptState.ABSENT, EndReason.UNKNOWN, false);
    }
    EndedAttempt ended = new EndedAttempt(attempt, AttemptState.ABSENT, EndReason.UNKNOWN);
    HoldEntry hold = endedBy(lock, attempt);
    if (hold != null) {
      EndReason endReason =
          hold.evicted
              ? EndReason.EVICTED
              : hold.isOver(now) ? EndReason.EXPIRED : EndReason.RELEASED;
      ended = end(lock, hold, endReason, now);
    } else if (leave(lock, attempt)) {
      ended = new EndedAttempt(attempt, AttemptState.WAITING, EndReason.RELEASED);
      records.remember(lock, ended);
    } else {
      EndedAttempt before = remembered(lock, attempt);
      ended = before == null ? ended : before;
    }
    boolean more = serveQueue(lock, now);
    records.save(lock);
    return new Reply.Ended(attempt, ended.was(), ended.how(), more);
  }

  /** The hold that a release by this attempt ends. */
  private @Nullable HoldEntry endedBy(L lock, AttemptId attempt) throws X {
    HoldEntry own = records.hold(lock, attempt);
    if (own != null || rules.endsOnlyItsOwn()) {
      return own;
    }
    for (HoldEntry hold : window(lock)) {
      if (rules.endsHold(hold.attempt, attempt)) {
        return hold;
      }
    }
    return null;
  }

  private Reply adjust(Request.Adjust request, long now) throws X {
    AttemptId attempt = request.attempt();
    L lock = find(request.name(), now);
    if (isRefused(attempt, now)) {
      return Refusals.sessionGone(attempt);
    }
    HoldEntry hold = lock == null ? null : records.hold(lock, attempt);
    if (lock == null || hold == null || hold.isOver(now) || hold.evicted) {
      return Refusals.notHeld(attempt, request.name());
    }
    Mode mode = request.mode();
    if (lock.capacity != mode.capacity()) {
      return Refusals.capacityDiffers(attempt, request.name(), lock.capacity, mode.capacity());
    }
    if (mode.weight() > hold.weight) {
      return Refusals.cannotWiden(attempt, request.name());
    }
    lock.used -= hold.weight - mode.weight();
    lock.dirty = true;
    hold.weight = mode.weight();
    hold.restart(request.terms(), now);
    if (request.tokens() > 0) {
      mint(lock, hold, request.tokens(), request.tokenFloor(), now);
    }
    records.update(lock, hold);
    serveQueue(lock, now);
    Reply reply = granted(lock, hold, now);
    records.save(lock);
    return reply;
  }

  /** See {@link io.mortise.spi.LockStore#evict}. */
  public Reply.Ended evict(LockName name, AttemptId attempt, Eviction eviction, long now) throws X {
    L lock = find(name, now);
    if (lock == null) {
      return new Reply.Ended(attempt, AttemptState.ABSENT, EndReason.UNKNOWN, false);
    }
    HoldEntry hold = records.hold(lock, attempt);
    AttemptState was = AttemptState.ABSENT;
    boolean more = false;
    if (hold != null) {
      was = AttemptState.HELD;
      hold.dropAtLeast();
      long sessionEnd = eviction == Eviction.CLOSE ? records.settledEnd(attempt.session(), now) : 0;
      if (sessionEnd > 0) {
        close(lock, hold, sessionEnd, now);
      } else {
        end(lock, hold, EndReason.EVICTED, now);
        more = serveQueue(lock, now);
      }
    } else if (leave(lock, attempt)) {
      was = AttemptState.WAITING;
      records.remember(lock, new EndedAttempt(attempt, was, EndReason.EVICTED));
      records.tell(new SessionNotification.HoldEnded(lock.name, attempt, EndReason.EVICTED), now);
      more = serveQueue(lock, now);
    }
    records.save(lock);
    return new Reply.Ended(
        attempt, was, was == AttemptState.ABSENT ? EndReason.UNKNOWN : EndReason.EVICTED, more);
  }

  /**
   * Asks a live owner, once, to release its hold. The owner does so when notified, or its session
   * is over by then, or it is cut off and its own deadline ends its lease. A renewal that does not
   * count in the session's end delivers the notification.
   */
  private void close(L lock, HoldEntry hold, long sessionEnd, long now) throws X {
    if (!hold.evicted) {
      records.tell(
          new SessionNotification.HoldEnded(lock.name, hold.attempt, EndReason.EVICTED), now);
    }
    hold.evicted = true;
    hold.atMostUntil = Math.min(hold.atMostUntil, sessionEnd);
    records.update(lock, hold);
  }

  /** See {@link io.mortise.spi.LockStore#reopen}. */
  public boolean reopen(LockName name, long now) throws X {
    L lock = find(name, now);
    if (lock == null || lock.shutUntil <= now) {
      return false;
    }
    lock.shutUntil = 0;
    lock.dirty = true;
    serveQueue(lock, now);
    records.save(lock);
    return true;
  }

  /**
   * Serves the queue, as each step does that may have freed the lock.
   *
   * @return whether the bound was met before the end
   */
  public boolean serve(LockName name, long now) throws X {
    L lock = find(name, now);
    if (lock == null) {
      return false;
    }
    boolean more = serveQueue(lock, now);
    records.save(lock);
    return more;
  }

  /**
   * Ends the holds of ended sessions, serves the queue, and forgets the lock if it is idle.
   *
   * @return the number of removed entries
   */
  public int sweep(LockName name, long now) throws X {
    L lock = records.find(name);
    if (lock == null) {
      return 0;
    }
    int removed = 0;
    List<HoldEntry> window = window(lock);
    lookFurther(lock, window);
    for (HoldEntry hold : window) {
      if (records.hasEnded(hold.attempt.session(), now)) {
        end(lock, hold, EndReason.TAKEN, now);
        lock.touched = now;
        removed++;
      }
    }
    serveQueue(lock, now);
    if (isForgotten(lock, now)) {
      records.delete(lock);
      return removed + 1;
    }
    records.save(lock);
    return removed;
  }

  /** Ends holds past their at-most time or of a session proven dead, among the next 64. */
  private void endHoldsThatAreOver(L lock, @Nullable SessionId provenDead, long now) throws X {
    for (HoldEntry hold : window(lock)) {
      if (hold.attempt.session().equals(provenDead)) {
        end(lock, hold, EndReason.TAKEN, now);
      } else if (hold.isOver(now)) {
        end(lock, hold, hold.evicted ? EndReason.EVICTED : EndReason.EXPIRED, now);
      }
    }
  }

  private EndedAttempt end(L lock, HoldEntry hold, EndReason endReason, long now) throws X {
    records.remove(lock, hold);
    lock.used -= hold.weight;
    records.shut(lock, hold, now);
    EndedAttempt ended = new EndedAttempt(hold.attempt, AttemptState.HELD, endReason);
    records.remember(lock, ended);
    if (hold.noted && rules.forgetsNotificationsOfEnded()) {
      records.forgetNotifications(hold.attempt);
    }
    if (endReason != EndReason.RELEASED && !(endReason == EndReason.EVICTED && hold.evicted)) {
      records.tell(new SessionNotification.HoldEnded(lock.name, hold.attempt, endReason), now);
    }
    return ended;
  }

  private @Nullable EndedAttempt remembered(L lock, AttemptId attempt) throws X {
    return rules.remembersEnd() ? records.remembered(lock, attempt) : null;
  }

  /** The queue after it was served. */
  private enum QueueRemainder {
    /** Empty, or with only passed-over waiters: a newcomer is next. */
    ALL,
    /** The lock is shut, or a waiter does not fit yet: a newcomer stands behind it. */
    BLOCKED,
    /** Unknown: the bound was met before the end. */
    MORE
  }

  private boolean serveQueue(L lock, long now) throws X {
    return serveQueue(lock, null, now) == QueueRemainder.MORE;
  }

  /**
   * Grants to waiters in order, as long as they fit, and drops the dead. A waiter whose process has
   * no connection would not be notified of its grant: it keeps its place and is passed over, unless
   * it sent this request.
   *
   * @param asking the attempt whose request this step answers; null if it does not wait
   */
  private QueueRemainder serveQueue(L lock, @Nullable AttemptId asking, long now) throws X {
    List<HoldEntry> served = new ArrayList<>();
    QueueRemainder remainder = serveQueue(lock, asking, served, now);
    for (HoldEntry hold : served) {
      tellGranted(lock, hold, now);
    }
    return remainder;
  }

  /**
   * @param served receives waiters to be notified after all were served: a store that serves by
   *     itself does so at once, so that none of them sees the others wait
   */
  private QueueRemainder serveQueue(
      L lock, @Nullable AttemptId asking, List<HoldEntry> served, long now) throws X {
    ArrayDeque<WaiterEntry> heads = new ArrayDeque<>();
    Predicate<WaiterEntry> disconnected = null;
    long passed = FRONT;
    long before = lock.waiters;
    for (int step = 0; lock.waiters > 0; step++) {
      if (lock.shutUntil > now) {
        return QueueRemainder.BLOCKED;
      } else if (proofs && step == mostServed) {
        // A retry only for passed-over waiters would never end.
        return lock.waiters < before ? QueueRemainder.MORE : QueueRemainder.BLOCKED;
      }
      if (heads.isEmpty()) {
        disconnected = null;
        heads.addAll(records.waiters(lock, passed, CHUNK));
        if (heads.isEmpty()) {
          return QueueRemainder.ALL;
        }
      }
      WaiterEntry head = heads.element();
      if (rules.skipsDeadWaiters() && records.left(head.attempt().session(), now) == 0) {
        heads.remove();
        leave(lock, head.attempt());
        continue;
      } else if (lock.used == lock.capacity) {
        // No waiter fits, so connections need not be checked.
        return QueueRemainder.BLOCKED;
      } else if (rules.skipsDisconnected() && !head.attempt().equals(asking)) {
        disconnected =
            disconnected == null ? records.disconnected(List.copyOf(heads)) : disconnected;
        if (disconnected.test(head)) {
          passed = heads.remove().ticket();
          continue;
        }
      }
      if (!lock.fits(head.request().mode())) {
        return QueueRemainder.BLOCKED;
      }
      heads.remove();
      leave(lock, head.attempt());
      HoldEntry hold = grant(lock, head.request(), true, now);
      if (proofs) {
        tellGranted(lock, hold, now);
      } else {
        served.add(hold);
      }
    }
    return QueueRemainder.ALL;
  }

  private void tellGranted(L lock, HoldEntry hold, long now) throws X {
    Reply.Granted granted = granted(lock, hold, now);
    records.tell(
        new SessionNotification.HoldGranted(
            lock.name,
            granted.attempt(),
            granted.token(),
            granted.tokens(),
            granted.wanted(),
            granted.atMostLeft() != null),
        now);
  }

  /** The next holders to examine. */
  private List<HoldEntry> window(L lock) throws X {
    return lock.used == 0 ? List.of() : records.holds(lock, rules.steps());
  }

  /** Moves examined holders to the end if there may be more. */
  private void lookFurther(L lock, List<HoldEntry> window) throws X {
    if (window.size() == rules.steps()) {
      records.rotate(lock, window.size());
    }
  }

  private boolean leave(L lock, AttemptId attempt) throws X {
    if (lock.waiters > 0 && records.removeWaiter(lock, attempt)) {
      lock.waiters--;
      lock.dirty = true;
      return true;
    }
    return false;
  }

  private boolean isRefused(AttemptId attempt, long now) throws X {
    return rules.acquireNeedsLiveSession() && records.left(attempt.session(), now) == 0;
  }

  private @Nullable L find(LockName name, long now) throws X {
    L lock = records.find(name);
    if (lock == null || isForgotten(lock, now)) {
      return null;
    }
    use(lock, now);
    return lock;
  }

  /** Records the use of an idle lock. One in use is written at its end: a poll writes nothing. */
  private void use(L lock, long now) throws X {
    lock.dirty |= lock.isIdle(now);
    lock.touched = now;
    if (!proofs) {
      dropDead(lock, now);
    }
  }

  /** Ends the holds and waits of dead sessions, in a store that does so by itself; not bounded. */
  public void settle(LockName name, long now) throws X {
    L lock = records.find(name);
    if (lock != null) {
      dropDead(lock, now);
    }
  }

  private void dropDead(L lock, long now) throws X {
    for (HoldEntry hold : records.holds(lock, Integer.MAX_VALUE)) {
      if (records.hasEnded(hold.attempt.session(), now)) {
        end(lock, hold, EndReason.TAKEN, now);
        lock.touched = now;
      }
    }
    for (WaiterEntry waiter : records.waiters(lock, FRONT, Integer.MAX_VALUE)) {
      if (records.hasEnded(waiter.attempt().session(), now)) {
        leave(lock, waiter.attempt());
      }
    }
    serveQueue(lock, now);
  }

  private boolean isForgotten(L lock, long now) {
    return lock.isIdle(now) && lock.touched + LockRecord.micros(rules.retention()) <= now;
  }
}
