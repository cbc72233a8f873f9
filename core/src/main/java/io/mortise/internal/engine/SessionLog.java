package io.mortise.internal.engine;

import io.mortise.spi.SessionId;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says what becomes of the sessions of a client. On a store in parts it has one for each part, and
 * what befalls a server befalls all of them that are kept there: so the first is told at once, and
 * those that meet the same on the same store within a second by their number. Thread-safe.
 */
final class SessionLog {
  private static final long GATHER_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Logger log;
  private final EngineScheduler timers;
  private final boolean gathers;
  private final ReentrantLock guard = new ReentrantLock();

  /** How many have followed, of those of which the first was told less than a second ago. */
  private final Map<SessionIncident, Integer> following = new HashMap<>();

  /**
   * For a client.
   *
   * @param parts of its store; what happens to the session of a store without parts is always told
   */
  SessionLog(EngineScheduler timers, int parts) {
    this(LoggerFactory.getLogger(SessionLog.class), timers, parts);
  }

  SessionLog(Logger log, EngineScheduler timers, int parts) {
    this.log = log;
    this.timers = timers;
    this.gathers = parts > 1;
  }

  /** What happened, as it is told of several, and in which store. */
  private record SessionIncident(String more, String store) {}

  void overdue(SessionId session, String store, long leftNanos) {
    if (isFirst("Renewal of {} more sessions in store {} is overdue.", store)) {
      log.warn(
          "Renewal of session {} in store {} is overdue; its leases are lost in {} ms unless it"
              + " succeeds.",
          session,
          store,
          TimeUnit.NANOSECONDS.toMillis(leftNanos));
    }
  }

  void recovered(SessionId session, String store) {
    if (isFirst("Renewal of {} more sessions in store {} recovered.", store)) {
      log.warn("Renewal of session {} in store {} recovered.", session, store);
    }
  }

  /** A session that holds nothing loses nothing. */
  void inDoubt(SessionId session, String store, int held) {
    if (held > 0
        && isFirst("The leases of {} more sessions in store {} are in doubt as well.", store)) {
      log.warn(
          "Store {} was restarted, or another server answers in its place, as after a failover or a"
              + " move of locks between servers, and it may have forgotten locks: {} leases of"
              + " session {} are valid again when it has confirmed them.",
          store,
          held,
          session);
    }
  }

  private boolean isFirst(String more, String store) {
    if (!gathers) {
      return true;
    }
    SessionIncident sessionIncident = new SessionIncident(more, store);
    guard.lock();
    try {
      if (following.computeIfPresent(sessionIncident, (key, count) -> count + 1) != null) {
        return false;
      }
      following.put(sessionIncident, 0);
    } finally {
      guard.unlock();
    }
    timers.schedule(GATHER_NANOS, () -> tellHowMany(sessionIncident));
    return true;
  }

  private void tellHowMany(SessionIncident sessionIncident) {
    int count;
    guard.lock();
    try {
      Integer known = following.remove(sessionIncident);
      count = known == null ? 0 : known;
    } finally {
      guard.unlock();
    }
    if (count > 0) {
      log.warn(sessionIncident.more(), count, sessionIncident.store());
    }
  }
}
