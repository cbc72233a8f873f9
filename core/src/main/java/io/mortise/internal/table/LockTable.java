package io.mortise.internal.table;

import io.mortise.LockName;
import io.mortise.Terms;
import io.mortise.admin.Eviction;
import io.mortise.internal.storekit.Refusals;
import io.mortise.internal.table.LockRecord.EndedAttempt;
import io.mortise.internal.table.LockRecord.HoldEntry;
import io.mortise.internal.table.LockRecord.WaiterEntry;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.LockQuery;
import io.mortise.spi.LockView;
import io.mortise.spi.LockViewPage;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.AttemptState;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.SessionVerdict;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The lock table: sessions, lock records, attempts. State and input go in, an answer comes out; no
 * clock, no thread, no I/O. It is the specification that every store is compared with.
 *
 * <p><b>Records.</b> A lock has holders whose weights add up to at most its capacity, and a queue.
 * An attempt's state only moves forward: unknown, waiting, holding, ended. An acquire that is sent
 * again is a poll: it answers what the attempt is, and makes progress for the queue's head.
 *
 * <p><b>Who is dead.</b> A hold outlives its session in the table until a contender, told which
 * session is in the way, has it judged and comes back with the proof; the take-over then compares
 * ids only. Waiters are cheaper to judge: a wrong skip costs a place in the queue, so whoever
 * serves the queue drops those whose session has ended.
 *
 * <p><b>Bounded.</b> Every step touches at most 64 holders and 64 waiters; what is left is told as
 * {@code more}, or is done by the next who asks. Where more than 64 hold, each step looks at the
 * next 64.
 *
 * <p>Not thread-safe. Times are microseconds of the store's clock, passed in.
 */
public final class LockTable {
  /** An idle record is kept this long, for its token counter and its remembered end. */
  public static final Duration RETENTION = Duration.ofMinutes(10);

  /** At so many of those who wait ahead is looked, for when their sessions end. */
  private static final int LOOKED_AT = 8;

  private final TableRules rules;

  /** Whether holds outlive their sessions until somebody brings the proof. */
  private final boolean proofs;

  /** Whether only the last end is remembered, as a record does, or all of a session's. */
  private final boolean records;

  private final SessionTable sessions;
  private final TreeMap<String, LockRecord> locks = new TreeMap<>();
  private String sweepFrom = "";

  /** An empty table under all rules. */
  public LockTable() {
    this(TableRules.ALL);
  }

  /** An empty table under the given rules. */
  public LockTable(TableRules rules) {
    this(rules, EnumSet.allOf(Capability.class));
  }

  /**
   * An empty table under the given rules, of a store that may lack {@link Capability#PROOF} and
   * {@link Capability#RECORD}. What else it may lack makes no difference here.
   */
  public LockTable(TableRules rules, Set<Capability> capabilities) {
    this.rules = rules;
    // Where there are no sessions neither is a question.
    boolean sessionless = !capabilities.contains(Capability.SESSION);
    this.proofs = sessionless || capabilities.contains(Capability.PROOF);
    this.records = sessionless || capabilities.contains(Capability.RECORD);
    this.sessions = new SessionTable(rules);
  }

  /** Does one request. */
  public Reply apply(Request request, long now) {
    if (request instanceof Request.Acquire acquire) {
      return acquire(acquire, now);
    } else if (request instanceof Request.Abandon abandon) {
      return abandon(abandon.name(), abandon.attempt(), now);
    }
    return adjust((Request.Adjust) request, now);
  }

  /** See {@link io.mortise.spi.StoreSession#renew}. */
  public Renewal renew(
      SessionSpec spec, long previous, long next, List<Long> seen, Duration ttl, long now) {
    return sessions.renew(spec, previous, next, seen, ttl, now);
  }

  /** Tells that a session's process has lost its connection to the store, or has one again. */
  public void connected(SessionId session, boolean connected) {
    sessions.connected(session, connected);
  }

  /** See {@link io.mortise.spi.StoreSession#close}. */
  public void close(SessionId session) {
    sessions.close(session);
  }

  /** Ends what hangs on dead sessions, in a store that does so by itself; not bounded. */
  public void settle(long now) {
    if (!proofs) {
      locks.forEach((name, lock) -> dropDead(lock, LockName.of(name), now));
    }
  }

  private void dropDead(LockRecord lock, LockName name, long now) {
    for (HoldEntry hold : List.copyOf(lock.holders.values())) {
      if (!sessions.isLive(hold.attempt.session(), now)) {
        end(lock, name, hold, EndReason.TAKEN, now);
        lock.touched = now;
      }
    }
    lock.waiters.keySet().removeIf(waiterEntry -> !sessions.isLive(waiterEntry.session(), now));
    serveQueue(lock, now);
  }

  /** See {@link io.mortise.spi.LockStore#judge}. */
  public SessionVerdict judge(SessionId session, long now) {
    return sessions.judge(session, now);
  }

  /** News to be pushed since the last call, for a store that pushes. */
  public void drainNotifications(
      java.util.function.BiConsumer<SessionId, SessionNotification> push) {
    sessions.drainNotifications().forEach(hint -> push.accept(hint.session(), hint.notification()));
  }

  private Reply acquire(Request.Acquire request, long now) {
    AttemptId attempt = request.attempt();
    if (rules.acquireNeedsLiveSession() && !sessions.isLive(attempt.session(), now)) {
      return Refusals.sessionGone(attempt);
    }
    LockRecord lock = find(request.name(), now);
    if (lock == null) {
      lock = new LockRecord(request.mode().capacity());
      locks.put(request.name().value(), lock);
    }
    if (lock.capacity != request.mode().capacity()) {
      return Refusals.capacityDiffers(
          attempt, request.name(), lock.capacity, request.mode().capacity());
    }
    endHoldsThatAreOver(lock, request.name(), request.provenDead(), now);
    HoldEntry hold = lock.holders.get(attempt);
    EndedAttempt ended = remembered(lock, attempt);
    if (hold == null && ended != null) {
      return Refusals.ended(attempt, ended.how());
    }
    if (hold == null) {
      boolean first = !rules.servesHead();
      if (rules.servesHead()) {
        first = serveQueue(lock, attempt, now) == QueueProgress.ALL;
        hold = lock.holders.get(attempt);
      }
      if (hold == null && first && lock.fits(request.mode()) && lock.closedUntil <= now) {
        lock.waiters.remove(attempt);
        hold = grant(lock, request, now);
        if (!lock.waiters.isEmpty() && rules.tellsHolder()) {
          // Waiters that were passed over told an earlier holder. This answer may be lost.
          hold.told = true;
          sessions.tell(new SessionNotification.Contended(request.name(), attempt), now);
        }
      }
    }
    return hold == null ? contended(lock, request, now) : granted(lock, hold, now);
  }

  private Reply contended(LockRecord lock, Request.Acquire request, long now) {
    AttemptId attempt = request.attempt();
    Reply.@Nullable Holder inTheWay = null;
    List<HoldEntry> window = window(lock);
    for (HoldEntry hold : window) {
      Duration left = sessions.left(hold.attempt.session(), now);
      if (inTheWay == null || (left.isZero() && !inTheWay.sessionLeft().isZero())) {
        inTheWay = new Reply.Holder(hold.attempt, hold.token, left);
      }
      if (!hold.told && rules.tellsHolder()) {
        hold.told = true;
        sessions.tell(new SessionNotification.Contended(request.name(), hold.attempt), now);
      }
    }
    if (inTheWay != null && !inTheWay.sessionLeft().isZero()) {
      // Only past the living: who comes back with the proof must find the dead where they were.
      lookFurther(lock, window);
    }
    if (request.queue() && !lock.waiters.containsKey(attempt)) {
      lock.waiters.put(attempt, new WaiterEntry(request, lock.nextTicket++, now));
    }
    WaiterEntry waiterEntry = lock.waiters.get(attempt);
    long mayBeFree = mayBeFree(lock, window, now);
    if (waiterEntry == null) {
      return new Reply.Busy(attempt, inTheWay, retryAfter(mayBeFree, 0, now));
    }
    long ahead = waiterEntry.ticket() - lock.waiters.values().iterator().next().ticket();
    mayBeFree = Math.min(mayBeFree, mayBeSkipped(lock, waiterEntry, now));
    return new Reply.Queued(attempt, (int) ahead, inTheWay, retryAfter(mayBeFree, ahead, now));
  }

  /** When the lock may be free without a hint: closed time over, session or at-most time over. */
  private long mayBeFree(LockRecord lock, List<HoldEntry> window, long now) {
    long at = window.isEmpty() ? now : LockRecord.NEVER;
    if (lock.closedUntil > now) {
      at = window.isEmpty() ? lock.closedUntil : Math.min(at, lock.closedUntil);
    }
    for (HoldEntry hold : window) {
      long left = LockRecord.micros(sessions.left(hold.attempt.session(), now));
      at = Math.min(at, Math.min(hold.freeAt, now + left));
    }
    return at;
  }

  /**
   * When a session ends that waits ahead. Whether it died is seen only then, and it may have been
   * handed the lock meanwhile. Those that have ended already are skipped, and cost nothing.
   */
  private long mayBeSkipped(LockRecord lock, WaiterEntry waiterEntry, long now) {
    long at = LockRecord.NEVER;
    int looked = 0;
    for (WaiterEntry before : lock.waiters.values()) {
      if (before.ticket() == waiterEntry.ticket() || looked++ == LOOKED_AT) {
        break;
      }
      long left = LockRecord.micros(sessions.left(before.request().attempt().session(), now));
      at = left > 0 ? Math.min(at, now + left) : at;
    }
    return at;
  }

  /** One ms later for each place. */
  private static Duration retryAfter(long mayBeFree, long ahead, long now) {
    long wait = Math.max(0, mayBeFree - now);
    return Duration.of(wait + 1000 * (1 + Math.min(ahead, 10_000)), ChronoUnit.MICROS);
  }

  private HoldEntry grant(LockRecord lock, Request.Acquire request, long now) {
    HoldEntry hold = new HoldEntry(request.attempt(), request.mode(), request.terms().label(), now);
    hold.restart(request.terms(), now);
    mint(lock, hold, request.tokens(), request.tokenFloor(), now);
    lock.used += hold.weight;
    lock.holders.put(hold.attempt, hold);
    return hold;
  }

  private void mint(LockRecord lock, HoldEntry hold, int tokens, long floor, long now) {
    hold.token = rules.nextToken(lock.lastToken, now, floor);
    long room = now + TableRules.TOKEN_LEAD_MICROS - hold.token;
    hold.tokens = (int) Math.min(tokens, Math.max(1, room));
    lock.lastToken = hold.token + hold.tokens - 1;
  }

  private static Reply.Granted granted(LockRecord lock, HoldEntry hold, long now) {
    hold.told |= !lock.waiters.isEmpty();
    Duration left =
        hold.freeAt == LockRecord.NEVER ? null : Duration.of(hold.freeAt - now, ChronoUnit.MICROS);
    return new Reply.Granted(hold.attempt, hold.token, hold.tokens, hold.told, left);
  }

  private Reply.Ended abandon(LockName name, AttemptId attempt, long now) {
    LockRecord lock = find(name, now);
    if (lock == null) {
      return new Reply.Ended(attempt, AttemptState.ABSENT, EndReason.UNKNOWN, false);
    }
    EndedAttempt endedAttempt = new EndedAttempt(attempt, AttemptState.ABSENT, EndReason.UNKNOWN);
    HoldEntry hold = heldBy(lock, attempt);
    if (hold != null) {
      EndReason endReason =
          hold.evicted
              ? EndReason.EVICTED
              : hold.isOver(now) ? EndReason.EXPIRED : EndReason.RELEASED;
      endedAttempt = end(lock, name, hold, endReason, now);
    } else if (lock.waiters.remove(attempt) != null) {
      endedAttempt =
          remember(lock, new EndedAttempt(attempt, AttemptState.WAITING, EndReason.RELEASED));
    } else {
      EndedAttempt before = remembered(lock, attempt);
      endedAttempt = before == null ? endedAttempt : before;
    }
    boolean more = serveQueue(lock, now);
    return new Reply.Ended(attempt, endedAttempt.was(), endedAttempt.how(), more);
  }

  private @Nullable HoldEntry heldBy(LockRecord lock, AttemptId attempt) {
    for (HoldEntry hold : lock.holders.values()) {
      if (rules.endsHold(hold.attempt, attempt)) {
        return hold;
      }
    }
    return null;
  }

  private Reply adjust(Request.Adjust request, long now) {
    AttemptId attempt = request.attempt();
    if (rules.acquireNeedsLiveSession() && !sessions.isLive(attempt.session(), now)) {
      return Refusals.sessionGone(attempt);
    }
    LockRecord lock = find(request.name(), now);
    HoldEntry hold = lock == null ? null : lock.holders.get(attempt);
    if (lock == null || hold == null || hold.isOver(now) || hold.evicted) {
      return Refusals.notHeld(attempt, request.name());
    }
    if (lock.capacity != request.mode().capacity()) {
      return Refusals.capacityDiffers(
          attempt, request.name(), lock.capacity, request.mode().capacity());
    }
    if (request.mode().weight() > hold.weight) {
      return Refusals.cannotWiden(attempt, request.name());
    }
    lock.used -= hold.weight - request.mode().weight();
    hold.weight = request.mode().weight();
    hold.restart(request.terms(), now);
    if (request.tokens() > 0) {
      mint(lock, hold, request.tokens(), request.tokenFloor(), now);
    }
    serveQueue(lock, now);
    return granted(lock, hold, now);
  }

  /** Loses a record, as if it had never been written: for simulations of servers that forget. */
  public void forget(LockName name) {
    locks.remove(name.value());
  }

  /** See {@link io.mortise.spi.LockStore#evict}. */
  public Reply.Ended evict(LockName name, AttemptId attempt, Eviction how, long now) {
    LockRecord lock = find(name, now);
    HoldEntry hold = lock == null ? null : lock.holders.get(attempt);
    if (lock != null && hold != null && how == Eviction.CLOSE) {
      Duration left = sessions.left(attempt.session(), now);
      if (!left.isZero()) {
        // The owner is told, once, and gives the lock up; or its session is over by then; or it is
        // cut off so badly that its own deadline ended its belief.
        if (!hold.evicted) {
          sessions.tell(new SessionNotification.HoldEnded(name, attempt, EndReason.EVICTED), now);
        }
        hold.evicted = true;
        hold.freeAt = Math.min(hold.freeAt, now + LockRecord.micros(left));
        hold.shutUntil = 0;
        return new Reply.Ended(attempt, AttemptState.HELD, EndReason.EVICTED, false);
      }
    }
    if (lock != null && hold != null) {
      hold.shutUntil = 0;
      end(lock, name, hold, EndReason.EVICTED, now);
      return new Reply.Ended(attempt, AttemptState.HELD, EndReason.EVICTED, serveQueue(lock, now));
    }
    if (lock != null && lock.waiters.remove(attempt) != null) {
      remember(lock, new EndedAttempt(attempt, AttemptState.WAITING, EndReason.EVICTED));
      sessions.tell(new SessionNotification.HoldEnded(name, attempt, EndReason.EVICTED), now);
      return new Reply.Ended(
          attempt, AttemptState.WAITING, EndReason.EVICTED, serveQueue(lock, now));
    }
    return new Reply.Ended(attempt, AttemptState.ABSENT, EndReason.UNKNOWN, false);
  }

  /** See {@link io.mortise.spi.LockStore#reopen}. */
  public boolean reopen(LockName name, long now) {
    LockRecord lock = find(name, now);
    if (lock == null || lock.closedUntil <= now) {
      return false;
    }
    lock.closedUntil = 0;
    serveQueue(lock, now);
    return true;
  }

  /**
   * Ends holds whose at-most time has passed and those of a session proven dead, among the next 64.
   */
  private void endHoldsThatAreOver(
      LockRecord lock, LockName name, @Nullable SessionId provenDead, long now) {
    for (HoldEntry hold : window(lock)) {
      if (hold.attempt.session().equals(provenDead)) {
        end(lock, name, hold, EndReason.TAKEN, now);
      } else if (hold.isOver(now)) {
        end(lock, name, hold, hold.evicted ? EndReason.EVICTED : EndReason.EXPIRED, now);
      }
    }
  }

  private EndedAttempt end(
      LockRecord lock, LockName name, HoldEntry hold, EndReason endReason, long now) {
    lock.holders.remove(hold.attempt);
    lock.used -= hold.weight;
    lock.closedUntil = Math.max(lock.closedUntil, hold.shutUntil);
    EndedAttempt endedAttempt =
        remember(lock, new EndedAttempt(hold.attempt, AttemptState.HELD, endReason));
    sessions.forget(hold.attempt);
    if (endReason != EndReason.RELEASED && !(endReason == EndReason.EVICTED && hold.evicted)) {
      sessions.tell(new SessionNotification.HoldEnded(name, hold.attempt, endReason), now);
    }
    return endedAttempt;
  }

  private EndedAttempt remember(LockRecord lock, EndedAttempt endedAttempt) {
    lock.lastEnd = endedAttempt;
    if (!records) {
      lock.endedAttempts.put(endedAttempt.attempt(), endedAttempt);
    }
    return endedAttempt;
  }

  private @Nullable EndedAttempt remembered(LockRecord lock, AttemptId attempt) {
    EndedAttempt last = records ? lock.lastEnd : lock.endedAttempts.get(attempt);
    return rules.remembersEnd() && last != null && last.attempt().equals(attempt) ? last : null;
  }

  /** What is left of the queue after it was served. */
  private enum QueueProgress {
    /** Nobody, or only waiters that were passed over: a newcomer is next. */
    ALL,
    /** The lock is closed, or a waiter is not served yet: a newcomer stands behind it. */
    BLOCKED,
    /** Not known: the bound was met before the end. */
    MORE
  }

  private boolean serveQueue(LockRecord lock, long now) {
    return serveQueue(lock, null, now) == QueueProgress.MORE;
  }

  /**
   * Grants to waiters in order, for as long as they fit, dropping the dead. A waiter without a
   * connection would not hear of its grant: it keeps its place and is passed over, unless it is the
   * one that asks.
   *
   * @param asking the attempt whose request this step answers; null if it does not wait
   */
  private QueueProgress serveQueue(LockRecord lock, @Nullable AttemptId asking, long now) {
    List<WaiterEntry> served = new ArrayList<>();
    QueueProgress left = QueueProgress.ALL;
    boolean moved = false;
    Iterator<WaiterEntry> queue = lock.waiters.values().iterator();
    for (int step = 0; queue.hasNext(); step++) {
      if (lock.closedUntil > now) {
        left = QueueProgress.BLOCKED;
        break;
      }
      if (proofs && step == rules.steps()) {
        // To come back for those that were passed over alone would never end.
        left = moved ? QueueProgress.MORE : QueueProgress.BLOCKED;
        break;
      }
      WaiterEntry next = queue.next();
      AttemptId attempt = next.request().attempt();
      if (rules.skipsDeadWaiters() && !sessions.isLive(attempt.session(), now)) {
        queue.remove();
        moved = true;
      } else if (!rules.skipsDisconnected()
          || attempt.equals(asking)
          || sessions.isConnected(attempt.session())) {
        if (!lock.fits(next.request().mode())) {
          left = QueueProgress.BLOCKED;
          break;
        }
        queue.remove();
        moved = true;
        grant(lock, next.request(), now);
        if (proofs) {
          tellServed(lock, next, now);
        } else {
          served.add(next);
        }
      }
    }
    // A store that serves by itself serves all at once: who is served does not see the others wait.
    served.forEach(waiterEntry -> tellServed(lock, waiterEntry, now));
    return left;
  }

  private void tellServed(LockRecord lock, WaiterEntry waiterEntry, long now) {
    Request.Acquire request = waiterEntry.request();
    HoldEntry hold = lock.holders.get(request.attempt());
    if (hold == null) {
      return;
    }
    Reply.Granted granted = granted(lock, hold, now);
    sessions.tell(
        new SessionNotification.Granted(
            request.name(),
            request.attempt(),
            granted.token(),
            granted.tokens(),
            granted.wanted(),
            granted.atMostLeft() != null),
        now);
  }

  /** The next holders to look at. */
  private List<HoldEntry> window(LockRecord lock) {
    List<HoldEntry> window = new ArrayList<>();
    for (HoldEntry hold : lock.holders.values()) {
      if (window.size() == rules.steps()) {
        break;
      }
      window.add(hold);
    }
    return window;
  }

  /** Where there are more holders, those that were looked at move to the end. */
  private static void lookFurther(LockRecord lock, List<HoldEntry> window) {
    if (window.size() < lock.holders.size()) {
      for (HoldEntry hold : window) {
        lock.holders.remove(hold.attempt);
        lock.holders.put(hold.attempt, hold);
      }
    }
  }

  private @Nullable LockRecord find(LockName name, long now) {
    LockRecord lock = locks.get(name.value());
    if (lock != null && isForgotten(lock, now)) {
      locks.remove(name.value());
      return null;
    }
    if (lock != null) {
      lock.touched = now;
      if (!proofs) {
        dropDead(lock, name, now);
      }
    }
    return lock;
  }

  private boolean isForgotten(LockRecord lock, long now) {
    return lock.isIdle(now) && lock.touched + LockRecord.micros(rules.retention()) <= now;
  }

  /** See {@link io.mortise.spi.LockStore#inspect}. */
  public LockViewPage inspect(LockQuery query, long now) {
    settle(now);
    List<LockView> views = new ArrayList<>();
    LockName only = query.name();
    String from = query.cursor() == null ? "" : query.cursor();
    Map<String, LockRecord> range =
        only == null
            ? locks.tailMap(from, true)
            : locks.subMap(only.value(), true, only.value(), true);
    for (Map.Entry<String, LockRecord> entry : range.entrySet()) {
      if (views.size() == query.limit()) {
        return new LockViewPage(views, entry.getKey());
      }
      if (query.idle() || !entry.getValue().isIdle(now)) {
        views.add(view(LockName.of(entry.getKey()), entry.getValue(), now));
      }
    }
    return new LockViewPage(views, null);
  }

  private LockView view(LockName name, LockRecord lock, long now) {
    List<LockView.Participant> holders = new ArrayList<>();
    lock.holders.values().stream()
        .sorted(Comparator.comparingLong((HoldEntry hold) -> hold.token))
        .forEach(
            hold -> {
              Duration atMost = hold.freeAt == LockRecord.NEVER ? null : since(now, hold.freeAt);
              holders.add(
                  party(
                      hold.attempt, hold.label, hold.weight, hold.token, hold.since, atMost, now));
            });
    List<LockView.Participant> waiters = new ArrayList<>();
    for (WaiterEntry waiterEntry : lock.waiters.values()) {
      if (waiters.size() == 1000) {
        break;
      }
      Request.Acquire request = waiterEntry.request();
      Terms terms = request.terms();
      waiters.add(
          party(
              request.attempt(),
              terms.label(),
              request.mode().weight(),
              0,
              waiterEntry.since(),
              null,
              now));
    }
    return new LockView(
        name, lock.capacity, lock.lastToken, since(now, lock.closedUntil), holders, waiters);
  }

  private LockView.Participant party(
      AttemptId attempt,
      String label,
      int weight,
      long token,
      long began,
      @Nullable Duration atMost,
      long now) {
    SessionId session = attempt.session();
    return new LockView.Participant(
        attempt,
        sessions.client(session, now),
        label,
        weight,
        token,
        since(began, now),
        sessions.left(session, now),
        atMost);
  }

  private static Duration since(long from, long to) {
    return Duration.of(Math.max(0, to - from), ChronoUnit.MICROS);
  }

  /** See {@link io.mortise.spi.LockStore#sweep}: takes up where the last sweep ended. */
  public int sweep(int budget, long now) {
    int removed = sessions.sweep(budget, now);
    int left = budget - removed;
    if (left == 0) {
      return removed;
    }
    List<String> visited = new ArrayList<>();
    for (String name : locks.tailMap(sweepFrom, false).keySet()) {
      if (visited.size() == left) {
        break;
      }
      visited.add(name);
    }
    sweepFrom = visited.size() < left ? "" : visited.get(visited.size() - 1);
    for (String name : visited) {
      LockRecord lock = locks.get(name);
      if (lock == null) {
        continue;
      }
      List<HoldEntry> window = window(lock);
      for (HoldEntry hold : window) {
        if (!sessions.isLive(hold.attempt.session(), now)) {
          end(lock, LockName.of(name), hold, EndReason.TAKEN, now);
          lock.touched = now;
          removed++;
        }
      }
      window.removeIf(hold -> !lock.holders.containsKey(hold.attempt));
      lookFurther(lock, window);
      serveQueue(lock, now);
      if (isForgotten(lock, now)) {
        locks.remove(name);
        removed++;
      }
    }
    return removed;
  }
}
