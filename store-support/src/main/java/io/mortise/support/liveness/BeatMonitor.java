package io.mortise.support.liveness;

import io.mortise.internal.queue.BoundedMap;
import io.mortise.spi.time.Ticker;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The beats of others that this process has seen, and how long each was unchanged, on its own
 * monotonic clock. Sessions have beats, and so has anything else that another process keeps alive
 * by changing it. If a session's beat was unchanged for a whole TTL, a compare-and-set of that beat
 * may end the session, regardless of the store's clock.
 *
 * <p><b>Safety.</b> The owner relies on its leases until a TTL, less a margin, after it
 * <em>sent</em> its last renewal, on its own monotonic clock. That renewal was executed before the
 * beat was read here for the first time. So at the latest a TTL after that reading was received the
 * owner relies on them no more, if both clocks run at about the same rate. If it renews after all,
 * the beat changes and the compare-and-set fails.
 *
 * <p>Either the beat changes with each executed renewal, also with a retried one; or the owner
 * counts from the first sending of the beat ({@link io.mortise.spi.StoreSession#isJudgedByBeat}).
 *
 * <p>Thread-safe. Remembers the 4,096 most recently read beats; a monitor {@linkplain #ofRounds of
 * rounds} remembers those read in this round and the previous one.
 *
 * @param <K> the key of a beat's owner
 */
public final class BeatMonitor<K> {
  private static final int MOST = 4_096;

  /** Clock rates may differ by 500 ppm on each side. */
  private static final long RATES = 1_000;

  private final Ticker ticker;
  private final boolean rising;
  private final ReentrantLock guard = new ReentrantLock();
  private final Map<K, BeatObservation> observations;

  /** Guarded by the lock. */
  private long round;

  private record BeatObservation(long beat, long since, long whole, long round) {
    long left(long now) {
      return whole - (now - since);
    }

    BeatObservation seenIn(long later) {
      return new BeatObservation(beat, since, whole, later);
    }
  }

  /** A monitor that has seen no beat. */
  public BeatMonitor(Ticker ticker) {
    this(ticker, MOST, false);
  }

  private BeatMonitor(Ticker ticker, int most, boolean rising) {
    this.ticker = ticker;
    this.rising = rising;
    this.observations = BoundedMap.ofLastUsed(most);
  }

  /**
   * A monitor for a walk over all sessions, round after round. With more sessions than its bound,
   * another monitor would forget each session before the walk met it again. This one is bounded
   * only by the number of sessions: some 200 bytes for each that stands.
   */
  public static <K> BeatMonitor<K> ofRounds(Ticker ticker) {
    return new BeatMonitor<>(ticker, Integer.MAX_VALUE, false);
  }

  /**
   * A monitor of beats that only rise. A lower one comes from an outdated reading and does not
   * count as a change: {@link #left} then returns the time of the highest.
   */
  public static <K> BeatMonitor<K> ofRising(Ticker ticker) {
    return new BeatMonitor<>(ticker, MOST, true);
  }

  /** Ends a round: forgets sessions whose beats were not read in it. */
  public void endRound() {
    guard.lock();
    try {
      observations.values().removeIf(seen -> seen.round() < round);
      round++;
    } finally {
      guard.unlock();
    }
  }

  /**
   * Records a beat that was read just now; to be called after it was received.
   *
   * @param ttl the TTL of its session
   * @return how much longer it must stay unchanged before the session may be ended; zero if it may
   */
  public Duration left(K session, long beat, Duration ttl) {
    guard.lock();
    try {
      long now = ticker.nanos();
      BeatObservation observation = observations.get(session);
      if (observation == null
          || (rising ? observation.beat() < beat : observation.beat() != beat)) {
        observation = new BeatObservation(beat, now, ttl.toNanos() + ttl.toNanos() / RATES, round);
        observations.put(session, observation);
      } else if (observation.round() != round) {
        observation = observation.seenIn(round);
        observations.put(session, observation);
      }
      return Duration.ofNanos(Math.max(0, observation.left(now)));
    } finally {
      guard.unlock();
    }
  }

  /**
   * The same time, without recording the beat.
   *
   * @return null if this beat was not seen before
   */
  public @Nullable Duration leftIfSeen(K session, long beat) {
    guard.lock();
    try {
      BeatObservation seen = observations.get(session);
      return seen == null || seen.beat() != beat
          ? null
          : Duration.ofNanos(Math.max(0, seen.left(ticker.nanos())));
    } finally {
      guard.unlock();
    }
  }

  /** Whether the beat seen last was unchanged for long enough, if it still is the present one. */
  boolean stoodStill(K session) {
    guard.lock();
    try {
      BeatObservation observation = observations.get(session);
      return observation != null && observation.left(ticker.nanos()) <= 0;
    } finally {
      guard.unlock();
    }
  }

  /** Forgets an ended session. */
  public void forget(K session) {
    guard.lock();
    try {
      observations.remove(session);
    } finally {
      guard.unlock();
    }
  }
}
