package io.mortise.support.liveness;

import io.mortise.spi.time.Ticker;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Which beats of others this process has seen, and for how long without a change, on its own
 * monotonic clock. Sessions have beats, and so has anything else that another process keeps alive
 * by changing it. A session whose beat stood still for a whole TTL may be ended by a
 * compare-and-set of that very beat, whatever the store's clock says or has said.
 *
 * <p><b>Why that is safe.</b> The owner believes in its leases until a TTL, less a margin, after it
 * <em>sent</em> its last renewal, on its own monotonic clock. That renewal was executed before the
 * beat was read here for the first time. So at the latest a TTL after that reading was received the
 * owner believes no more, if both clocks run at about the same rate. Should it renew after all, the
 * beat is another one and the compare-and-set fails.
 *
 * <p>Either the beat changes with each renewal that is executed, also with one that is sent again;
 * or the owner counts from when it sent the beat first ({@link
 * io.mortise.spi.StoreSession#isJudgedByBeat}).
 *
 * <p>Thread-safe. Remembers the 4,096 beats that were looked at last; or, if it is one of {@link
 * #ofRounds}, those that were looked at in this round and the one before.
 *
 * @param <K> names what has a beat
 */
public final class HeartbeatMonitor<K> {
  private static final int MOST = 4_096;

  /** Clock rates may differ by 500 ppm on each side. */
  private static final long RATES = 1_000;

  private final Ticker ticker;
  private final int most;
  private final ReentrantLock guard = new ReentrantLock();
  private final Map<K, HeartbeatObservation> heartbeatObservations =
      new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<K, HeartbeatObservation> eldest) {
          return size() > most;
        }
      };

  /** Guarded by the lock. */
  private long round;

  private record HeartbeatObservation(long beat, long since, long whole, long round) {
    long left(long now) {
      return whole - (now - since);
    }

    HeartbeatObservation seenIn(long later) {
      return new HeartbeatObservation(beat, since, whole, later);
    }
  }

  /** A monitor that has seen no heartbeat. */
  public HeartbeatMonitor(Ticker ticker) {
    this(ticker, MOST);
  }

  private HeartbeatMonitor(Ticker ticker, int most) {
    this.ticker = ticker;
    this.most = most;
  }

  /**
   * A monitor for a walk over all sessions, round after round. A monitor with a bound would forget
   * each session before the walk met it again, if there were more of them than the bound. This one
   * has no bound but the number of sessions: some 200 bytes for each that stands.
   */
  public static <K> HeartbeatMonitor<K> ofRounds(Ticker ticker) {
    return new HeartbeatMonitor<>(ticker, Integer.MAX_VALUE);
  }

  /** A round has ended: sessions that were not looked at in it are forgotten. */
  public void endRound() {
    guard.lock();
    try {
      heartbeatObservations.values().removeIf(seen -> seen.round() < round);
      round++;
    } finally {
      guard.unlock();
    }
  }

  /**
   * Takes in a beat that was read just now; to be called after it was received.
   *
   * @param ttl of the session that it belongs to
   * @return how long it has to stand still yet until the session may be ended; zero if it may
   */
  public Duration left(K session, long beat, Duration ttl) {
    guard.lock();
    try {
      long now = ticker.nanos();
      HeartbeatObservation heartbeatObservation = heartbeatObservations.get(session);
      if (heartbeatObservation == null || heartbeatObservation.beat() != beat) {
        heartbeatObservation =
            new HeartbeatObservation(beat, now, ttl.toNanos() + ttl.toNanos() / RATES, round);
        heartbeatObservations.put(session, heartbeatObservation);
      } else if (heartbeatObservation.round() != round) {
        heartbeatObservation = heartbeatObservation.seenIn(round);
        heartbeatObservations.put(session, heartbeatObservation);
      }
      return Duration.ofNanos(Math.max(0, heartbeatObservation.left(now)));
    } finally {
      guard.unlock();
    }
  }

  /**
   * The same, without taking the beat in.
   *
   * @return null if this beat was not seen before
   */
  public @Nullable Duration leftIfSeen(K session, long beat) {
    guard.lock();
    try {
      HeartbeatObservation seen = heartbeatObservations.get(session);
      return seen == null || seen.beat() != beat
          ? null
          : Duration.ofNanos(Math.max(0, seen.left(ticker.nanos())));
    } finally {
      guard.unlock();
    }
  }

  /** Whether the beat that was seen last has stood still for long enough, if it still stands. */
  public boolean stoodStill(K session) {
    guard.lock();
    try {
      HeartbeatObservation heartbeatObservation = heartbeatObservations.get(session);
      return heartbeatObservation != null && heartbeatObservation.left(ticker.nanos()) <= 0;
    } finally {
      guard.unlock();
    }
  }

  /** The session has ended. */
  public void forget(K session) {
    guard.lock();
    try {
      heartbeatObservations.remove(session);
    } finally {
      guard.unlock();
    }
  }
}
