package io.mortise.console.observer;

import io.mortise.StoreUnavailableException;
import io.mortise.UnsupportedByStoreException;
import io.mortise.admin.EndedHold;
import io.mortise.admin.EndedHold.EndCause;
import io.mortise.admin.Eviction;
import io.mortise.admin.EvictionResult;
import io.mortise.admin.LockAdmin;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockParticipant.Access;
import io.mortise.admin.LockParticipant.ClientInfo;
import io.mortise.admin.LockParticipant.Share;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.admin.SessionInfo;
import io.mortise.admin.StoreInfo;
import io.mortise.spi.AttemptId;
import io.mortise.spi.SessionId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A store of locks set up by a test, in time that moves by hand and with each look. */
final class FakeAdmin implements LockAdmin {
  static final Instant START = Instant.parse("2026-11-24T21:00:00Z");

  final TreeMap<String, Held> locks = new TreeMap<>();
  final Map<String, SessionInfo> sessions = new LinkedHashMap<>();
  long nanos = 1;
  Duration cost = Duration.ofMillis(1);
  Duration spent = Duration.ZERO;
  int pageSize = 1000;
  boolean silent;

  /** An exception that the next look throws, like one of a driver. */
  @Nullable Error error;

  boolean listsSessions = true;

  /** Whether the record of a lock has the cause of the last end. */
  boolean keepsEnds = true;

  final Map<String, EndedHold> ends = new HashMap<>();
  int finds;
  int surveys;

  /** Attempts by session number, in order, with their begin. */
  static final class Held {
    final Map<String, Instant> holders = new LinkedHashMap<>();
    final Map<String, Instant> waiters = new LinkedHashMap<>();
    Duration shutFor = Duration.ZERO;
  }

  Instant now() {
    return START.plusNanos(nanos);
  }

  void advance(Duration by) {
    nanos += by.toNanos();
  }

  static String session(int number) {
    return "SSSSSSSSS" + (100 + number);
  }

  static String attempt(int session, int number) {
    return new AttemptId(new SessionId(session(session)), number).encoded();
  }

  void hold(String name, int session, int number) {
    lock(name).holders.put(attempt(session, number), now());
    alive(session);
  }

  void await(String name, int session, int number) {
    lock(name).waiters.put(attempt(session, number), now());
    alive(session);
  }

  void release(String name) {
    end(name, EndCause.RELEASED);
  }

  /** Ends the holds of a lock, recording the last end, and grants the lock to the next waiter. */
  void end(String name, EndCause cause) {
    Held lock = lock(name);
    lock.holders.keySet().forEach(attempt -> ends.put(name, new EndedHold(attempt, cause)));
    lock.holders.clear();
    if (!lock.waiters.isEmpty()) {
      String next = lock.waiters.keySet().iterator().next();
      lock.waiters.remove(next);
      lock.holders.put(next, now());
    } else if (lock.shutFor.isZero()) {
      locks.remove(name);
    }
  }

  void alive(int session) {
    leftOf(session, Duration.ofSeconds(13));
  }

  void leftOf(int session, Duration left) {
    sessions.put(
        session(session),
        new SessionInfo(
            session(session),
            new ClientInfo("host-" + session, 4000 + session, "app"),
            Duration.ofSeconds(15),
            left,
            null));
  }

  void kill(int session) {
    sessions.remove(session(session));
  }

  Held lock(String name) {
    return locks.computeIfAbsent(name, key -> new Held());
  }

  private void look() {
    nanos += cost.toNanos();
    spent = spent.plus(cost);
    Error failure = error;
    if (failure != null) {
      error = null;
      throw failure;
    }
    if (silent) {
      throw new StoreUnavailableException("Store 'redis://u:secret@h' does not answer.");
    }
  }

  @Override
  public Optional<LockInfo> find(String name) {
    finds++;
    look();
    EndedHold end = keepsEnds ? ends.get(name) : null;
    if (!locks.containsKey(name) && end == null) {
      return Optional.empty();
    }
    Held lock = locks.getOrDefault(name, new Held());
    return Optional.of(
        new LockInfo(
            name,
            OptionalInt.empty(),
            7,
            lock.shutFor,
            parties(lock.holders, 5),
            parties(lock.waiters, 0),
            0,
            lock.waiters.size(),
            end));
  }

  private List<LockParticipant> parties(Map<String, Instant> attempts, long token) {
    List<LockParticipant> parties = new ArrayList<>();
    attempts.forEach(
        (attempt, since) -> {
          SessionInfo session = sessions.get(SeenLock.session(attempt));
          parties.add(
              new LockParticipant(
                  attempt,
                  session == null ? null : session.client(),
                  "label",
                  new Share(Access.EXCLUSIVE, 0, 0),
                  token,
                  Duration.between(since, now()).plusMillis(1),
                  session == null ? Duration.ZERO : session.left(),
                  null,
                  false,
                  null,
                  Duration.ZERO,
                  null));
        });
    return parties;
  }

  @Override
  public Page<LockInfo> list(LockQuery query) {
    String cursor = query.cursor();
    surveys++;
    look();
    List<LockInfo> lines = new ArrayList<>();
    String last = null;
    for (Map.Entry<String, Held> entry :
        (cursor == null ? locks : locks.tailMap(cursor, false)).entrySet()) {
      if (lines.size() == pageSize) {
        return new Page<>(lines, last);
      }
      last = entry.getKey();
      lines.add(line(entry.getKey(), entry.getValue()));
    }
    return new Page<>(lines, null);
  }

  private LockInfo line(String name, Held lock) {
    Map.Entry<String, Instant> first =
        lock.holders.isEmpty() ? null : lock.holders.entrySet().iterator().next();
    return LockInfo.summary(
        name,
        OptionalInt.empty(),
        lock.holders.size(),
        lock.waiters.isEmpty() ? 0 : LockInfo.SOME,
        first == null
            ? null
            : AttemptId.parse(first.getKey())
                .holder(
                    "label",
                    new Share(Access.EXCLUSIVE, 0, 0),
                    Duration.between(first.getValue(), now()).plusMillis(1)),
        lock.shutFor);
  }

  @Override
  public Page<SessionInfo> sessions(@Nullable String cursor, int limit) {
    if (!listsSessions) {
      throw new UnsupportedByStoreException("No sessions here.");
    }
    look();
    return new Page<>(List.copyOf(sessions.values()), null);
  }

  @Override
  public EvictionResult evict(String name, String attempt, Eviction how) {
    throw new AssertionError("not needed");
  }

  @Override
  public boolean reopen(String name) {
    throw new AssertionError("not needed");
  }

  @Override
  public StoreInfo store() {
    return new StoreInfo("fake", Set.of(), Duration.ofSeconds(1));
  }
}
