package io.mortise.jdbc.table;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.support.table.LockRecord;
import io.mortise.support.table.LockTable;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * The rows of a lock in one of many states, and what is asked of it then: drawn by a number, so
 * that there may be equal copies, which differ in the numbers of their attempts only.
 */
final class LockStateGenerator {
  /** The numbers of the attempts of a copy, and of a lock among them. */
  static final long COPIES = 1_000_000_000;

  private static final int ATTEMPTS = 1_000;

  /** As many waiters and holders as a step does not read at once. */
  private static final int CROWD = LockTable.STEPS + 6;

  private static final long SECOND = 1_000_000;

  /** By which statement it is asked first. */
  enum FirstStatement {
    ACQUIRE_ALONE,
    ABANDON_ALONE,
    ACQUIRE_TOGETHER,
    ABANDON_TOGETHER,
    RETAKE_TOGETHER,
    RETAKE,
    HAND_OFF,
    QUEUE_UP,
    /** There is none: a transaction. */
    LONG
  }

  /** Sessions that live in the store, or not. */
  enum SessionLiveness {
    SOON(60),
    LATER(70),
    LATEST(80),
    EXPIRED(-5),
    ABSENT(0),
    /** The clock was set back since it was renewed. */
    FROM_THE_FUTURE(300);

    static final long TTL = 90 * SECOND;

    final long seconds;

    @SuppressWarnings("ImmutableEnumChecker") // a record
    final SessionId id;

    SessionLiveness(long seconds) {
      this.seconds = seconds;
      this.id = SessionId.random(new SecureRandom());
    }
  }

  /** Unusual properties of a lock or request. */
  private enum Deviation {
    HOLDER,
    ASKER,
    ATTEMPT,
    CAPACITY,
    OWNED,
    QUEUE,
    HEAD,
    WEIGHT,
    OVER,
    SHUT,
    CLOSED,
    TOLD,
    EVICTED,
    ENDED,
    ABSENT
  }

  private final Random random;
  private final List<Deviation> deviations;
  private final long number;
  private final boolean isAlike;
  private final int copy;
  private final long now;

  final FirstStatement firstStatement;
  final String name;

  /** Empty if the lock has no row. */
  final Map<String, Object> lock = new LinkedHashMap<>();

  final List<Map<String, Object>> waits = new ArrayList<>();
  final List<Map<String, Object>> holds = new ArrayList<>();
  final List<Map<String, Object>> notifications = new ArrayList<>();

  /** Whether the counter of tokens is to be set nearly as far ahead as it may be. */
  final boolean nearLead;

  /** The request; for a retake its release. */
  final Request request;

  /** The acquire of a retake. */
  final Request.@Nullable Acquire next;

  private SessionLiveness holder = SessionLiveness.SOON;
  private SessionLiveness asker = SessionLiveness.SOON;

  /**
   * @param number the same gives the same
   * @param copy from 0
   * @param now by the server's clock
   * @param isAlike whether all of this kind are asked for by one process, and plainly
   */
  LockStateGenerator(
      FirstStatement firstStatement,
      String name,
      long number,
      int copy,
      long now,
      boolean isAlike) {
    this.random = new Random(number);
    this.number = number;
    this.isAlike = isAlike;
    // Nothing, one thing, or some.
    this.deviations =
        chance(45)
            ? List.of()
            : chance(60)
                ? List.of(Deviation.values()[random.nextInt(Deviation.values().length)])
                : List.of(Deviation.values());
    this.firstStatement = firstStatement;
    this.name = name;
    this.copy = copy;
    this.now = now;
    int capacity = chance(80) ? Mode.SHARERS : chance(50) ? 3 : 1;
    boolean acquires =
        firstStatement == FirstStatement.ACQUIRE_ALONE
            || firstStatement == FirstStatement.ACQUIRE_TOGETHER
            || firstStatement == FirstStatement.QUEUE_UP;
    boolean isOwned = acquires == is(Deviation.OWNED, acquires ? 25 : 12);
    boolean isShared = !isOwned && is(Deviation.OWNED, 25) && chance(50);
    if (firstStatement == FirstStatement.QUEUE_UP || firstStatement == FirstStatement.LONG) {
      isOwned = chance(50);
      isShared = !isOwned && chance(firstStatement == FirstStatement.LONG ? 60 : 10);
    }
    holder = is(Deviation.HOLDER, 20) ? dead() : alive();
    asker = is(Deviation.ASKER, 20) ? dead() : !acquires && chance(70) ? holder : alive();
    nearLead = chance(30);
    row(capacity, isOwned);
    if (isShared && capacity > 1) {
      share(capacity);
    }
    boolean contended =
        firstStatement == FirstStatement.QUEUE_UP
            || firstStatement == FirstStatement.HAND_OFF
            || firstStatement == FirstStatement.LONG;
    boolean mayWait = contended && (isOwned || isShared) && chance(60);
    if (mayWait || is(Deviation.QUEUE, contended ? 40 : 12)) {
      queue(capacity, contended && chance(12) ? CROWD : 1 + random.nextInt(3));
    }
    AttemptId own =
        acquires && isOwned && is(Deviation.ATTEMPT, 5) ? attempt(holder, 1) : attempt(asker, 2);
    AttemptId held =
        is(Deviation.ATTEMPT, 8) ? attempt(chance(50) ? holder : alive(), 3) : attempt(holder, 1);
    int asked = is(Deviation.CAPACITY, 7) ? 4 : capacity;
    if (firstStatement == FirstStatement.LONG) {
      request = anything(asked);
      next = null;
    } else if (acquires) {
      request = acquire(own, new Mode(asked, asked), null);
      next = null;
    } else {
      request = new Request.Abandon(LockName.of(name), held);
      boolean retakes =
          firstStatement == FirstStatement.RETAKE
              || firstStatement == FirstStatement.RETAKE_TOGETHER;
      next = retakes ? acquire(own, new Mode(asked, asked), null) : null;
    }
    if (is(Deviation.ABSENT, 5)) {
      lock.clear();
      waits.clear();
      holds.clear();
      notifications.clear();
    }
  }

  private void row(int capacity, boolean isOwned) {
    long last = chance(50) ? now - 900 * SECOND : chance(50) ? now + 10 * SECOND : 0;
    lock.put("capacity", capacity);
    lock.put("used", isOwned ? capacity : 0);
    lock.put("owner", isOwned ? attempt(holder, 1).encoded() : null);
    lock.put("token", last - 3);
    lock.put("tokens", 4);
    lock.put("since_us", now - SECOND);
    lock.put(
        "free_us",
        is(Deviation.OVER, 10) ? now - SECOND : chance(70) ? LockRecord.NEVER : now + hour());
    lock.put("shut_us", is(Deviation.SHUT, 15) ? now + hour() : chance(60) ? 0 : now - 2 * SECOND);
    lock.put("label", "held");
    boolean mayBeTold =
        !isOwned
            || firstStatement == FirstStatement.HAND_OFF
            || firstStatement == FirstStatement.QUEUE_UP;
    int told = (mayBeTold && chance(60)) || is(Deviation.TOLD, 35) ? 1 + random.nextInt(3) : 0;
    lock.put("told", told);
    lock.put("evicted", !isOwned || is(Deviation.EVICTED, 8) ? 1 : 0);
    lock.put("last_token", last);
    lock.put("next_place", 40 + random.nextInt(9));
    lock.put("next_ticket", 20 + random.nextInt(9));
    lock.put("waiters", 0);
    lock.put(
        "closed_us", is(Deviation.CLOSED, 12) ? now + hour() : chance(50) ? 0 : now - 3 * SECOND);
    lock.put("touched_us", now - 60 * SECOND);
    String ended =
        is(Deviation.ENDED, 15)
            ? attempt(asker, 2).encoded()
            : chance(40) ? null : attempt(SessionLiveness.LATER, 9).encoded();
    boolean waited = ended != null && chance(30);
    lock.put("ended", ended);
    lock.put("ended_was", waited ? "WAITING" : "HELD");
    lock.put(
        "ended_how",
        ended == null || (waited && chance(70)) ? "RELEASED" : chance(30) ? "EVICTED" : "EXPIRED");
    if (isOwned) {
      tellOf(attempt(holder, 1), (told & 2) != 0);
    }
  }

  /** Notifications of the holder, and those of others, which must stay. */
  private void tellOf(AttemptId held, boolean noted) {
    if (noted) {
      told(held, chance(50) ? "wanted" : "granted");
    }
    if (chance(30)) {
      told(held, "gone");
    }
    if (chance(30)) {
      told(new AttemptId(held.session(), held.number() + 500), "wanted");
    }
  }

  private void told(AttemptId attempt, String kind) {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("session", attempt.session().value());
    row.put("kind", kind);
    row.put("name", name);
    row.put("attempt", attempt.encoded());
    row.put("token", 1);
    row.put("tokens", 1);
    row.put("flag", 0);
    row.put("timed", 0);
    row.put("how", kind.equals("gone") ? "EVICTED" : "");
    notifications.add(row);
  }

  private void share(int capacity) {
    int count =
        firstStatement == FirstStatement.LONG && capacity > CROWD && chance(20)
            ? CROWD
            : 1 + random.nextInt(2);
    long place = 0;
    for (int i = 0; i < count; i++) {
      place += 1 + (count == CROWD ? 0 : random.nextInt(3));
      AttemptId attempt = attempt(i == 0 ? holder : chance(90) ? alive() : dead(), 100 + i);
      int told = chance(30) ? 3 : 0;
      Map<String, Object> row = new LinkedHashMap<>();
      row.put("attempt", attempt.encoded());
      row.put("place", place);
      row.put("weight", 1);
      row.put("token", now - 800 * SECOND + i);
      row.put("tokens", 1);
      row.put("since_us", now - SECOND);
      row.put("free_us", chance(80) ? LockRecord.NEVER : chance(60) ? now + hour() : now - SECOND);
      row.put("shut_us", chance(80) ? 0 : now + hour());
      row.put("label", "part");
      row.put("told", told);
      row.put("evicted", chance(8) ? 1 : 0);
      holds.add(row);
      tellOf(attempt, told != 0);
    }
    lock.put("used", count);
    lock.put("next_place", place + 1 + random.nextInt(9));
  }

  private void queue(int capacity, int count) {
    long ticket = random.nextInt(9);
    for (int i = 0; i < count; i++) {
      ticket += 1 + (i > 0 && chance(50) ? random.nextInt(4) : 0);
      // A head that is dead is passed over, and with it who is dead behind it.
      boolean mayBeDead = i == 0 || firstStatement == FirstStatement.QUEUE_UP;
      SessionLiveness sessionLiveness =
          count == CROWD && i > 0 && (i < LockTable.STEPS || firstStatement == FirstStatement.LONG)
              ? SessionLiveness.LATEST
              : mayBeDead && is(Deviation.HEAD, 20) ? dead() : alive();
      boolean own = firstStatement == FirstStatement.QUEUE_UP && i > 0 && is(Deviation.ATTEMPT, 8);
      AttemptId attempt =
          own && waits.size() == 1 ? attempt(asker, 2) : attempt(sessionLiveness, 20 + i);
      Map<String, Object> row = new LinkedHashMap<>();
      row.put("ticket", ticket);
      row.put("attempt", attempt.encoded());
      row.put("session", attempt.session().value());
      row.put("weight", is(Deviation.WEIGHT, 25) ? 1 : capacity);
      row.put("tokens", tokens());
      row.put("token_floor", floor());
      row.put("at_most_us", chance(60) ? -1 : 600 * SECOND);
      row.put("at_least_us", chance(80) ? -1 : 300 * SECOND);
      row.put("label", chance(50) ? "" : "waits " + i);
      row.put("since_us", now - SECOND);
      waits.add(row);
    }
    lock.put("waiters", count);
    lock.put("told", ((Number) lock.get("told")).intValue() | 1);
    lock.put("next_ticket", ticket + 1 + random.nextInt(3));
  }

  private Request anything(int capacity) {
    int dice = random.nextInt(100);
    AttemptId known =
        chance(30)
            ? attempt(asker, 2)
            : !waits.isEmpty() && chance(40)
                ? AttemptId.parse((String) waits.get(random.nextInt(waits.size())).get("attempt"))
                : !holds.isEmpty()
                    ? AttemptId.parse(
                        (String) holds.get(random.nextInt(holds.size())).get("attempt"))
                    : attempt(holder, 1);
    if (dice < 60) {
      Mode mode = chance(50) ? new Mode(1, capacity) : new Mode(capacity, capacity);
      SessionId dead =
          holder.seconds <= 0 || holder == SessionLiveness.FROM_THE_FUTURE || chance(5)
              ? holder.id
              : null;
      return acquire(chance(60) ? attempt(asker, 2) : known, mode, chance(50) ? dead : null);
    } else if (dice < 85) {
      return new Request.Abandon(LockName.of(name), known);
    }
    return new Request.Adjust(
        LockName.of(name),
        known,
        new Mode(chance(50) ? 1 : capacity, capacity),
        new HoldTerms(chance(50) ? Duration.ofMinutes(10) : null, null, ""),
        chance(50) ? 0 : 5,
        0);
  }

  private Request.Acquire acquire(AttemptId attempt, Mode mode, @Nullable SessionId dead) {
    return new Request.Acquire(
        LockName.of(name),
        attempt,
        mode,
        firstStatement == FirstStatement.QUEUE_UP || chance(50),
        isAlike
            ? HoldTerms.NONE
            : new HoldTerms(
                chance(40) ? Duration.ofMinutes(10) : null,
                chance(25) ? Duration.ofMinutes(5) : null,
                chance(50) ? "" : "asked"),
        tokens(),
        floor(),
        dead);
  }

  private int tokens() {
    return nearLead && chance(80) ? Request.MAX_TOKENS : 1 + random.nextInt(99);
  }

  private long floor() {
    return isAlike || chance(70) ? 0 : chance(50) ? now - 5 * SECOND : now + 20 * SECOND;
  }

  private static long hour() {
    return 3600 * SECOND;
  }

  private AttemptId attempt(SessionLiveness sessionLiveness, long number) {
    return new AttemptId(sessionLiveness.id, copy * COPIES + this.number * ATTEMPTS + number);
  }

  private SessionLiveness alive() {
    return isAlike
        ? SessionLiveness.SOON
        : List.of(SessionLiveness.SOON, SessionLiveness.LATER, SessionLiveness.LATEST)
            .get(random.nextInt(3));
  }

  private SessionLiveness dead() {
    return List.of(SessionLiveness.EXPIRED, SessionLiveness.ABSENT, SessionLiveness.FROM_THE_FUTURE)
        .get(random.nextInt(3));
  }

  private boolean is(Deviation deviation, int percent) {
    return deviations.size() == 1
        ? deviations.contains(deviation)
        : deviations.contains(deviation) && chance(percent);
  }

  private boolean chance(int percent) {
    return random.nextInt(100) < percent;
  }

  private boolean isAlive(String session) {
    for (SessionLiveness sessionLiveness : SessionLiveness.values()) {
      if (sessionLiveness.id.value().equals(session)) {
        return sessionLiveness.seconds > 0;
      }
    }
    return false;
  }

  private long number(String column) {
    return ((Number) lock.get(column)).longValue();
  }

  private boolean isAskerThere(Request.Acquire acquire) {
    return isAlive(acquire.attempt().session().value())
        && number("capacity") == acquire.mode().capacity();
  }

  private boolean isFree(Request.Acquire acquire) {
    return number("used") == 0
        && waits.isEmpty()
        && number("closed_us") <= now
        && !acquire.attempt().encoded().equals(lock.get("ended"));
  }

  private boolean isHeld(String attempt) {
    return attempt.equals(lock.get("owner")) && isHeldInTime();
  }

  private boolean isHeldInTime() {
    return number("evicted") == 0 && number("free_us") > now;
  }

  private boolean isOpen() {
    return Math.max(number("closed_us"), number("shut_us")) <= now;
  }

  private boolean isHeadAlive() {
    return isAlive((String) waits.get(0).get("session"));
  }

  private boolean isUnwanted() {
    return waits.isEmpty() && number("told") == 0;
  }

  /** Whether nothing special goes on, so that the short way is to be taken. */
  boolean isCommon() {
    if (lock.isEmpty() && firstStatement != FirstStatement.LONG) {
      return firstStatement == FirstStatement.ACQUIRE_TOGETHER
          && isAlive(request.attempt().session().value());
    }
    String asking = request.attempt().encoded();
    return switch (firstStatement) {
      case ACQUIRE_ALONE, ACQUIRE_TOGETHER ->
          isAskerThere((Request.Acquire) request) && isFree((Request.Acquire) request);
      case ABANDON_ALONE, ABANDON_TOGETHER -> isHeld(asking) && isUnwanted();
      case RETAKE, RETAKE_TOGETHER ->
          isHeld(asking) && isUnwanted() && isOpen() && next != null && isAskerThere(next);
      case HAND_OFF ->
          isHeld(asking)
              && (waits.isEmpty()
                  || (isOpen()
                      && isHeadAlive()
                      && ((Number) waits.get(0).get("weight")).longValue() == number("capacity")));
      case QUEUE_UP ->
          isAskerThere((Request.Acquire) request)
              && (isFree((Request.Acquire) request)
                  || (isInTheWay()
                      && !asking.equals(lock.get("owner"))
                      && !asking.equals(lock.get("ended"))
                      && waits.stream().noneMatch(wait -> asking.equals(wait.get("attempt")))));
      case LONG -> true;
    };
  }

  /** Whether the holder knows already that others want the lock, though nobody waits for it. */
  boolean isToldInVain() {
    return !lock.isEmpty() && waits.isEmpty() && (number("told") & HoldRow.TOLD) != 0;
  }

  private boolean isInTheWay() {
    return lock.get("owner") != null
        && holder != SessionLiveness.FROM_THE_FUTURE
        && isAlive(holder.id.value())
        && isHeldInTime()
        && number("closed_us") <= now
        && (waits.isEmpty() || isHeadAlive());
  }
}
