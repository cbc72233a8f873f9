package io.mortise.jdbc.table;

import io.mortise.LockName;
import io.mortise.admin.Eviction;
import io.mortise.internal.storekit.Refusals;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.AttemptState;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What a lock does with a request: the rules of core's lock table, on rows.
 *
 * <p><b>Atomic.</b> Each method runs inside one transaction, and first reads the lock's row under
 * its lock (SQLite: under the file's write lock). Everything else that it reads or writes of that
 * name is changed only by whoever has that row, so what it reads after it is fresh. There are short
 * cuts, {@link SingleStatementPath}.
 *
 * <p><b>Who is dead.</b> No step judges a holder's session; a take-over compares the id of one that
 * was proven dead by a judgement before. The session of a waiter is read: a wrong skip costs a
 * place in the queue only.
 *
 * <p><b>Time</b> is read once per step, perhaps a little before the row's lock was got. That errs
 * to the safe side: what looks alive may be dead, never the reverse, and at-most times are counted
 * from after the engine sent the request.
 */
public final class SqlLockTable {
  /** The most holders, and the most waiters, that one step touches. */
  public static final int STEPS = 64;

  /** How far a block of tokens may run ahead of the clock; stands in acquire_fast.sql too. */
  public static final long TOKEN_LEAD_MICROS = 1_000_000;

  /** An idle row is kept this long, for its token counter and its remembered end. */
  public static final Duration RETENTION = Duration.ofMinutes(10);

  /** How many waiters are read at a time. */
  public static final int CHUNK = 8;

  private final LockRepository repository;
  private final Consumer<SessionNotification> pendingNotifications;

  /**
   * @param pendingNotifications receives the notifications that a step left; valid once the
   *     transaction has committed
   */
  SqlLockTable(LockRepository repository, Consumer<SessionNotification> pendingNotifications) {
    this.repository = repository;
    this.pendingNotifications = pendingNotifications;
  }

  /** Does one request. */
  public Reply apply(Request request, long now) throws SQLException {
    if (request instanceof Request.Acquire acquire) {
      return acquire(acquire, now);
    } else if (request instanceof Request.Abandon abandon) {
      return abandon(abandon, now);
    }
    return adjust((Request.Adjust) request, now);
  }

  private Reply acquire(Request.Acquire request, long now) throws SQLException {
    AttemptId attempt = request.attempt();
    LockRow lock = repository.lock(request.name().value());
    if (left(attempt.session().value(), now) == 0) {
      return Refusals.sessionGone(attempt);
    }
    if (lock == null) {
      lock = new LockRow(request.name().value(), request.mode().capacity(), now);
      repository.insert(lock);
    } else if (isForgotten(lock, now)) {
      lock.capacity = request.mode().capacity();
      lock.ended = null;
    }
    touch(lock, now);
    recount(lock);
    if (lock.capacity != request.mode().capacity()) {
      return Refusals.capacityDiffers(
          attempt, request.name(), lock.capacity, request.mode().capacity());
    }
    String encoded = attempt.encoded();
    endHoldsThatAreOver(lock, request.name(), request.provenDead(), now);
    HoldRow hold = hold(lock, encoded);
    if (hold == null && encoded.equals(lock.ended)) {
      save(lock);
      return Refusals.ended(attempt, lock.endedHow);
    }
    if (hold == null) {
      QueueRemainder queueRemainder = serveQueue(lock, request.name(), encoded, now);
      hold = hold(lock, encoded);
      if (hold == null
          && queueRemainder == QueueRemainder.ALL
          && lock.fits(request.mode())
          && lock.closedUntil <= now) {
        hold = grant(lock, request, false, now);
        if (lock.waiters > 0) {
          // Waiters that were passed over told an earlier holder. This answer may be lost.
          tellWanted(lock, request.name(), hold, now);
        }
      }
    }
    Reply reply = hold == null ? contended(lock, request, now) : granted(lock, hold, now);
    save(lock);
    return reply;
  }

  private Reply contended(LockRow lock, Request.Acquire request, long now) throws SQLException {
    AttemptId attempt = request.attempt();
    HoldRow inTheWay = null;
    long inTheWayLeft = 0;
    List<HoldRow> window = window(lock);
    long mayBeFree = window.isEmpty() ? now : LockRow.NEVER;
    if (lock.closedUntil > now) {
      mayBeFree = window.isEmpty() ? lock.closedUntil : Math.min(mayBeFree, lock.closedUntil);
    }
    for (HoldRow hold : window) {
      long left = holderLeft(hold.session(), now);
      mayBeFree = Math.min(mayBeFree, Math.min(hold.atMostUntil, now + left));
      if (inTheWay == null || (left == 0 && inTheWayLeft != 0)) {
        inTheWay = hold;
        inTheWayLeft = left;
      }
      if (!hold.told) {
        tellWanted(lock, request.name(), hold, now);
      }
    }
    if (inTheWayLeft != 0) {
      // Only past the living: who comes back with the proof must find the dead where they were.
      lookFurther(lock, window);
    }
    Reply.Holder holder =
        inTheWay == null
            ? null
            : new Reply.Holder(
                AttemptId.parse(inTheWay.attempt), inTheWay.token, micros(inTheWayLeft));
    WaitRow waiter = lock.waiters == 0 ? null : repository.waiter(lock.name, attempt.encoded());
    if (waiter == null && request.queue()) {
      waiter = WaitRow.of(request, lock.nextTicket++, now);
      repository.insert(lock.name, waiter);
      lock.waiters++;
      lock.dirty = true;
    }
    if (waiter == null) {
      return new Reply.Busy(attempt, holder, retryAfter(mayBeFree, 0, now));
    }
    long ahead = waiter.ticket() - repository.heads(lock.name, 1).get(0).ticket();
    if (ahead > 0) {
      // Whether one who waits ahead has died is seen when its session ends.
      mayBeFree =
          Math.min(mayBeFree, repository.soonestEnd(lock.name, waiter.ticket(), STEPS, now));
    }
    return new Reply.Queued(
        attempt,
        (int) Math.min(ahead, Integer.MAX_VALUE),
        holder,
        retryAfter(mayBeFree, ahead, now));
  }

  private void tellWanted(LockRow lock, LockName name, HoldRow hold, long now) throws SQLException {
    hold.told = true;
    hold.noted = true;
    saveHold(lock, hold);
    tell(new SessionNotification.Contended(name, AttemptId.parse(hold.attempt)), now);
  }

  /** When the lock may be free without a notification; one ms later for each place. */
  static Duration retryAfter(long mayBeFree, long ahead, long now) {
    return micros(Math.max(0, mayBeFree - now) + 1000 * (1 + Math.min(ahead, 10_000)));
  }

  private HoldRow grant(LockRow lock, Request.Acquire request, boolean noted, long now)
      throws SQLException {
    HoldRow hold =
        new HoldRow(
            request.attempt().encoded(),
            request.mode().weight(),
            request.terms().label(),
            now,
            lock.nextPlace++);
    hold.noted = noted;
    hold.restart(request.terms(), now);
    mint(lock, hold, request.tokens(), request.tokenFloor(), now);
    lock.used += hold.weight;
    if (request.mode().isExclusive()) {
      lock.owner = hold;
    } else {
      repository.insert(lock.name, hold);
    }
    return hold;
  }

  private static void mint(LockRow lock, HoldRow hold, int tokens, long floor, long now) {
    hold.token = Math.max(Math.max(lock.lastToken + 1, now), floor);
    hold.tokens = (int) Math.min(tokens, Math.max(1, now + TOKEN_LEAD_MICROS - hold.token));
    lock.lastToken = hold.token + hold.tokens - 1;
    lock.dirty = true;
  }

  private Reply.Granted granted(LockRow lock, HoldRow hold, long now) throws SQLException {
    if (!hold.told && lock.waiters > 0) {
      hold.told = true;
      saveHold(lock, hold);
    }
    return new Reply.Granted(
        AttemptId.parse(hold.attempt),
        hold.token,
        hold.tokens,
        hold.told,
        hold.atMostUntil == LockRow.NEVER ? null : micros(hold.atMostUntil - now));
  }

  private Reply.Ended abandon(Request.Abandon request, long now) throws SQLException {
    AttemptId attempt = request.attempt();
    LockRow lock = find(request.name(), now);
    if (lock == null) {
      return new Reply.Ended(attempt, AttemptState.ABSENT, EndReason.UNKNOWN, false);
    }
    String encoded = attempt.encoded();
    HoldRow hold = hold(lock, encoded);
    AttemptState attemptState = AttemptState.ABSENT;
    EndReason endReason = EndReason.UNKNOWN;
    if (hold != null) {
      attemptState = AttemptState.HELD;
      endReason =
          hold.evicted
              ? EndReason.EVICTED
              : hold.isOver(now) ? EndReason.EXPIRED : EndReason.RELEASED;
      end(lock, request.name(), hold, endReason, now);
    } else if (leave(lock, encoded)) {
      attemptState = AttemptState.WAITING;
      endReason = EndReason.RELEASED;
      lock.remember(encoded, attemptState, endReason);
    } else if (encoded.equals(lock.ended)) {
      attemptState = lock.endedWas;
      endReason = lock.endedHow;
    }
    boolean more = serveQueue(lock, request.name(), now);
    save(lock);
    return new Reply.Ended(attempt, attemptState, endReason, more);
  }

  private Reply adjust(Request.Adjust request, long now) throws SQLException {
    AttemptId attempt = request.attempt();
    LockRow lock = find(request.name(), now);
    if (left(attempt.session().value(), now) == 0) {
      return Refusals.sessionGone(attempt);
    }
    HoldRow hold = lock == null ? null : hold(lock, attempt.encoded());
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
    if (hold == lock.owner && !mode.isExclusive()) {
      lock.owner = null;
      repository.insert(lock.name, hold);
    } else {
      saveHold(lock, hold);
    }
    serveQueue(lock, request.name(), now);
    Reply reply = granted(lock, hold, now);
    save(lock);
    return reply;
  }

  /** See {@link io.mortise.spi.LockStore#evict}. */
  public Reply.Ended evict(LockName name, AttemptId attempt, Eviction eviction, long now)
      throws SQLException {
    LockRow lock = find(name, now);
    if (lock == null) {
      return new Reply.Ended(attempt, AttemptState.ABSENT, EndReason.UNKNOWN, false);
    }
    String encoded = attempt.encoded();
    HoldRow hold = hold(lock, encoded);
    AttemptState attemptState = AttemptState.ABSENT;
    boolean more = false;
    if (hold != null) {
      attemptState = AttemptState.HELD;
      long left = left(hold.session(), now);
      hold.atLeastUntil = 0;
      if (eviction == Eviction.CLOSE && left > 0) {
        // Its owner, told once, gives it up when it hears of it; or its session is over by then.
        if (!hold.evicted) {
          tell(new SessionNotification.HoldEnded(name, attempt, EndReason.EVICTED), now);
        }
        hold.evicted = true;
        hold.atMostUntil = Math.min(hold.atMostUntil, now + left);
        saveHold(lock, hold);
      } else {
        end(lock, name, hold, EndReason.EVICTED, now);
        more = serveQueue(lock, name, now);
      }
    } else if (leave(lock, encoded)) {
      attemptState = AttemptState.WAITING;
      lock.remember(encoded, attemptState, EndReason.EVICTED);
      tell(new SessionNotification.HoldEnded(name, attempt, EndReason.EVICTED), now);
      more = serveQueue(lock, name, now);
    }
    save(lock);
    return new Reply.Ended(
        attempt,
        attemptState,
        attemptState == AttemptState.ABSENT ? EndReason.UNKNOWN : EndReason.EVICTED,
        more);
  }

  /** See {@link io.mortise.spi.LockStore#reopen}. */
  public boolean reopen(LockName name, long now) throws SQLException {
    LockRow lock = find(name, now);
    if (lock == null || lock.closedUntil <= now) {
      return false;
    }
    lock.closedUntil = 0;
    lock.dirty = true;
    serveQueue(lock, name, now);
    save(lock);
    return true;
  }

  /**
   * Serves the queue, as each step does that may have freed the lock.
   *
   * @return whether the bound was met before the end
   */
  public boolean serve(LockName name, long now) throws SQLException {
    LockRow lock = find(name, now);
    if (lock == null) {
      return false;
    }
    boolean more = serveQueue(lock, name, now);
    save(lock);
    return more;
  }

  /** Ends the holds of ended sessions, serves the queue, and forgets the lock if it is idle. */
  public int sweep(String name, long now) throws SQLException {
    LockRow lock = repository.lock(name);
    if (lock == null) {
      return 0;
    }
    int removed = 0;
    LockName lockName = LockName.of(name);
    List<HoldRow> window = window(lock);
    lookFurther(lock, window);
    for (HoldRow hold : window) {
      // Absent only: one that expired may be renewed at this moment, and is judged in its own step.
      if (repository.session(hold.session()) == null) {
        end(lock, lockName, hold, EndReason.TAKEN, now);
        lock.touched = now;
        removed++;
      }
    }
    serveQueue(lock, lockName, now);
    if (isForgotten(lock, now)) {
      repository.delete(lock);
      return removed + 1;
    }
    save(lock);
    return removed;
  }

  private void endHoldsThatAreOver(
      LockRow lock, LockName name, @Nullable SessionId provenDead, long now) throws SQLException {
    for (HoldRow hold : window(lock)) {
      if (provenDead != null && hold.session().equals(provenDead.value())) {
        end(lock, name, hold, EndReason.TAKEN, now);
      } else if (hold.isOver(now)) {
        end(lock, name, hold, hold.evicted ? EndReason.EVICTED : EndReason.EXPIRED, now);
      }
    }
  }

  private void end(LockRow lock, LockName name, HoldRow hold, EndReason endReason, long now)
      throws SQLException {
    if (hold == lock.owner) {
      lock.owner = null;
    } else {
      repository.deleteHold(lock.name, hold.attempt);
    }
    lock.used -= hold.weight;
    lock.closedUntil = Math.max(lock.closedUntil, hold.atLeastUntil);
    lock.remember(hold.attempt, AttemptState.HELD, endReason);
    if (hold.noted) {
      repository.forgetHold(hold.attempt);
    }
    if (endReason != EndReason.RELEASED && !(endReason == EndReason.EVICTED && hold.evicted)) {
      tell(new SessionNotification.HoldEnded(name, AttemptId.parse(hold.attempt), endReason), now);
    }
  }

  /** What is left of the queue after it was served. */
  private enum QueueRemainder {
    /** Nobody, or only waiters that were passed over: a newcomer is next. */
    ALL,
    /** The lock is closed, or a waiter does not fit yet: a newcomer stands behind it. */
    BLOCKED,
    /** Not known: the bound was met before the end. */
    MORE
  }

  private boolean serveQueue(LockRow lock, LockName name, long now) throws SQLException {
    return serveQueue(lock, name, null, now) == QueueRemainder.MORE;
  }

  /**
   * Grants to waiters in order, for as long as they fit, dropping the dead. A waiter whose process
   * has no connection would not hear of its grant: it keeps its place and is passed over, unless it
   * is the one that asks.
   *
   * @param asking the attempt whose request this step answers; null if it does not wait
   */
  private QueueRemainder serveQueue(LockRow lock, LockName name, @Nullable String asking, long now)
      throws SQLException {
    ArrayDeque<WaitRow> heads = new ArrayDeque<>();
    Predicate<String> disconnected = null;
    long passed = LockRepository.FRONT;
    long before = lock.waiters;
    for (int step = 0; lock.waiters > 0; step++) {
      if (lock.closedUntil > now) {
        return QueueRemainder.BLOCKED;
      } else if (step == STEPS) {
        // To come back for those that were passed over alone would never end.
        return lock.waiters < before ? QueueRemainder.MORE : QueueRemainder.BLOCKED;
      }
      if (heads.isEmpty()) {
        disconnected = null;
        heads.addAll(repository.heads(lock.name, passed, CHUNK));
        if (heads.isEmpty() && passed == LockRepository.FRONT) {
          // Somebody deleted rows by hand: the count must not shut the lock.
          lock.waiters = 0;
          lock.dirty = true;
        }
        if (heads.isEmpty()) {
          return QueueRemainder.ALL;
        }
      }
      WaitRow head = heads.element();
      Request.Acquire request = head.request(name, lock.capacity);
      if (left(head.session(), now) == 0) {
        heads.remove();
        leave(lock, head.attempt());
        continue;
      } else if (lock.used == lock.capacity) {
        // Nobody fits, so that it need not be known who is connected.
        return QueueRemainder.BLOCKED;
      } else if (!head.attempt().equals(asking)) {
        disconnected = disconnected == null ? repository.disconnected(heads) : disconnected;
        if (disconnected.test(head.session())) {
          passed = heads.remove().ticket();
          continue;
        }
      }
      if (!lock.fits(request.mode())) {
        return QueueRemainder.BLOCKED;
      }
      heads.remove();
      leave(lock, head.attempt());
      Reply.Granted granted = granted(lock, grant(lock, request, true, now), now);
      tell(
          new SessionNotification.Granted(
              name,
              request.attempt(),
              granted.token(),
              granted.tokens(),
              granted.wanted(),
              granted.atMostLeft() != null),
          now);
    }
    return QueueRemainder.ALL;
  }

  /** The next holders to look at. */
  private List<HoldRow> window(LockRow lock) throws SQLException {
    if (lock.owner != null) {
      return List.of(lock.owner);
    }
    return lock.used == 0 ? List.of() : repository.holds(lock.name, STEPS);
  }

  /** Where there may be more, those that were looked at move to the end. */
  private void lookFurther(LockRow lock, List<HoldRow> window) throws SQLException {
    if (window.size() == STEPS) {
      long first = window.get(0).place;
      long last = window.get(STEPS - 1).place;
      repository.rotate(lock.name, last, lock.nextPlace - first);
      lock.nextPlace += last - first + 1;
      lock.dirty = true;
    }
  }

  private @Nullable HoldRow hold(LockRow lock, String attempt) throws SQLException {
    HoldRow owner = lock.owner;
    if (owner != null) {
      return owner.attempt.equals(attempt) ? owner : null;
    }
    return lock.used == 0 ? null : repository.hold(lock.name, attempt);
  }

  private void saveHold(LockRow lock, HoldRow hold) throws SQLException {
    if (hold == lock.owner) {
      lock.dirty = true;
    } else {
      repository.update(lock.name, hold);
    }
  }

  private boolean leave(LockRow lock, String attempt) throws SQLException {
    if (lock.waiters > 0 && repository.deleteWaiter(lock.name, attempt)) {
      lock.waiters--;
      lock.dirty = true;
      return true;
    }
    return false;
  }

  private @Nullable LockRow find(LockName name, long now) throws SQLException {
    LockRow lock = repository.lock(name.value());
    if (lock == null || isForgotten(lock, now)) {
      return null;
    }
    touch(lock, now);
    recount(lock);
    return lock;
  }

  /**
   * What the lock says of its queue is wrong where rows were deleted or restored apart from each
   * other. A long queue is taken for what it says.
   */
  private void recount(LockRow lock) throws SQLException {
    int there = repository.heads(lock.name, CHUNK).size();
    if (there < CHUNK ? lock.waiters != there : lock.waiters < there) {
      lock.waiters = there;
      lock.dirty = true;
    }
  }

  private static boolean isForgotten(LockRow lock, long now) {
    return lock.isIdle(now) && lock.touched + HoldRow.micros(RETENTION) <= now;
  }

  /**
   * Notes the use of an idle lock. One in use is written when its use ends, so a poll writes
   * nothing.
   */
  private static void touch(LockRow lock, long now) {
    lock.dirty |= lock.isIdle(now);
    lock.touched = now;
  }

  private void save(LockRow lock) throws SQLException {
    if (lock.dirty) {
      repository.update(lock);
      lock.dirty = false;
    }
  }

  private void tell(SessionNotification sessionNotification, long now) throws SQLException {
    if (repository.tell(sessionNotification, now)) {
      pendingNotifications.accept(sessionNotification);
    }
  }

  /** Microseconds that a session lives without a further renewal; 0 if it has ended. */
  private long left(String session, long now) throws SQLException {
    SessionRepository.SessionRow found = repository.session(session);
    return found == null ? 0 : found.left(now);
  }

  /** The same; also 0 if it has to be judged because the clock was set back. */
  private long holderLeft(String session, long now) throws SQLException {
    SessionRepository.SessionRow found = repository.session(session);
    return found == null || found.isAheadOfClock(now) ? 0 : found.left(now);
  }

  static Duration micros(long micros) {
    return Duration.of(micros, ChronoUnit.MICROS);
  }
}
