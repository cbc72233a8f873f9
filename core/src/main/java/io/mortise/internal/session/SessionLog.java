package io.mortise.internal.session;

import io.mortise.internal.runtime.EngineScheduler;
import io.mortise.spi.SessionId;
import io.mortise.spi.time.DurationText;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Logs the events of a client's sessions. On a store in parts there is a session for each part, and
 * trouble of a server concerns all sessions kept there: the first is logged at once, and further
 * ones with the same event on the same store within a second by their number. Thread-safe.
 */
final class SessionLog {
  private static final long GATHER_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Logger log;
  private final EngineScheduler timers;
  private final boolean gathers;
  private final ReentrantLock guard = new ReentrantLock();

  /** The number of followers for each event whose first was logged less than a second ago. */
  private final Map<SessionIncident, Integer> following = new HashMap<>();

  /**
   * A log of one client's sessions.
   *
   * @param parts the parts of its store; events of the only session of a store without parts are
   *     always logged
   */
  SessionLog(EngineScheduler timers, int parts) {
    this(LoggerFactory.getLogger(SessionLog.class), timers, parts);
  }

  SessionLog(Logger log, EngineScheduler timers, int parts) {
    this.log = log;
    this.timers = timers;
    this.gathers = parts > 1;
  }

  /** An event in the form for several sessions, and its store. */
  private record SessionIncident(String more, String store, Level level) {}

  /**
   * Logs that renewals of a session fail or are late.
   *
   * @param sentence the reason
   * @param held the number of its leases, which are lost when this time is over
   */
  void unanswered(String sentence, SessionId session, String store, int held, long leftNanos) {
    if (isFirst("The same is true of {} more sessions in store {}.", store, Level.WARN)) {
      log.warn(
          "{} Leases of session {}: {}{}.",
          sentence,
          session,
          held,
          held == 0
              ? ""
              : "; the first is lost in " + text(leftNanos) + " unless the store answers");
    }
  }

  /**
   * Logs the end of that.
   *
   * @param kept the number of leases that outlived it
   */
  void answeredAgain(String store, long lastedNanos, int kept) {
    if (isFirst("The same is true of {} more sessions in store {}.", store, Level.INFO)) {
      log.info(
          "Store {} answers renewals again after {}; leases kept: {}.",
          store,
          text(lastedNanos),
          kept);
    }
  }

  private static String text(long nanos) {
    return DurationText.format(Duration.ofNanos(Math.max(0, nanos)));
  }

  /** A session without holds loses nothing. */
  void inDoubt(SessionId session, String store, int held) {
    if (held > 0
        && isFirst(
            "The leases of {} more sessions in store {} are in doubt as well.",
            store,
            Level.WARN)) {
      log.warn(
          "Store {} was restarted, or another server answers in its place, as after a failover or a"
              + " move of locks between servers, and it may have forgotten locks: {} leases of"
              + " session {} are valid again when it has confirmed them.",
          store,
          held,
          session);
    }
  }

  private boolean isFirst(String more, String store, Level level) {
    if (!gathers) {
      return true;
    }
    SessionIncident sessionIncident = new SessionIncident(more, store, level);
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
      log.atLevel(sessionIncident.level())
          .log(sessionIncident.more(), count, sessionIncident.store());
    }
  }
}
