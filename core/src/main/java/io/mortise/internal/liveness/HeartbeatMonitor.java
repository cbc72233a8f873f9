package io.mortise.internal.liveness;

import io.mortise.spi.time.Ticker;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

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
 * <p>Thread-safe. Remembers the 4,096 beats that were looked at last.
 *
 * @param <K> names what has a beat
 */
public final class HeartbeatMonitor<K> {
  private static final int MOST = 4_096;

  /** Clock rates may differ by 500 ppm on each side. */
  private static final long RATES = 1_000;

  private final Ticker ticker;
  private final ReentrantLock guard = new ReentrantLock();
  private final Map<K, HeartbeatObservation> heartbeatObservations =
      new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<K, HeartbeatObservation> eldest) {
          return size() > MOST;
        }
      };

  private record HeartbeatObservation(long beat, long since, long whole) {
    long left(long now) {
      return whole - (now - since);
    }
  }

  /** A monitor that has seen no heartbeat. */
  public HeartbeatMonitor(Ticker ticker) {
    this.ticker = ticker;
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
            new HeartbeatObservation(beat, now, ttl.toNanos() + ttl.toNanos() / RATES);
        heartbeatObservations.put(session, heartbeatObservation);
      }
      return Duration.ofNanos(Math.max(0, heartbeatObservation.left(now)));
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
