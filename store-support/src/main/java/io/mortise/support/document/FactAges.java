package io.mortise.support.document;

import io.mortise.LockName;
import io.mortise.internal.queue.BoundedMap;
import io.mortise.spi.time.Ticker;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Bounds of the age of facts, by this process's monotonic clock: a lower bound from the time when a
 * fact was seen; an upper bound if an earlier version, or none, was seen before.
 *
 * <p>Thread-safe. Remembers the 4,096 most recently read or written facts.
 */
final class FactAges {
  private static final int MOST = 4_096;

  /** Clock rates may differ by 500 ppm on each side. */
  private static final long RATES = 1_000;

  private final Ticker ticker;
  private final ReentrantLock guard = new ReentrantLock();
  private final Map<LockName, SeenFact> seen = BoundedMap.ofLastUsed(MOST);

  /**
   * A version as this process knows it.
   *
   * @param since the latest time of its creation
   * @param asked the sending time of the latest request that found it
   * @param writtenAfter a time when it did not exist yet; counts only if that is known
   */
  private record SeenFact(
      long version, long since, long asked, boolean isBeginKnown, long writtenAfter) {}

  FactAges(Ticker ticker) {
    this.ticker = ticker;
  }

  long now() {
    return ticker.nanos();
  }

  /**
   * Records the result of a read; to be called after the answer was received.
   *
   * @param version 0 if there was none
   * @param asked when the read was sent
   */
  void read(LockName name, long version, long asked) {
    guard.lock();
    try {
      SeenFact before = seen.get(name);
      if (before == null) {
        seen.put(name, new SeenFact(version, ticker.nanos(), asked, false, 0));
      } else if (version == before.version()) {
        long latest = asked - before.asked() > 0 ? asked : before.asked();
        seen.put(
            name,
            new SeenFact(
                version, before.since(), latest, before.isBeginKnown(), before.writtenAfter()));
      } else if (version == 0 || version > before.version()) { // Otherwise the answer is late.
        seen.put(name, new SeenFact(version, ticker.nanos(), asked, true, before.asked()));
      }
    } finally {
      guard.unlock();
    }
  }

  /**
   * Records a version that this process has written; to be called after the answer was received.
   *
   * @param asked a time before the write was sent
   */
  void wrote(LockName name, long version, long asked) {
    guard.lock();
    try {
      SeenFact before = seen.get(name);
      if (before == null || version > before.version()) {
        seen.put(name, new SeenFact(version, ticker.nanos(), asked, true, asked));
      }
    } finally {
      guard.unlock();
    }
  }

  /** Whether a version is certainly older than the given age. */
  boolean isOlder(LockName name, long version, Duration age) {
    SeenFact fact = seen(name, version);
    long nanos = age.toNanos();
    return fact != null && ticker.nanos() - fact.since() >= nanos + nanos / RATES;
  }

  /** Whether a version is certainly younger than the given age. */
  boolean isYounger(LockName name, long version, Duration age) {
    SeenFact fact = seen(name, version);
    return fact != null
        && fact.isBeginKnown()
        && ticker.nanos() - fact.writtenAfter() < age.toNanos();
  }

  private @Nullable SeenFact seen(LockName name, long version) {
    guard.lock();
    try {
      SeenFact fact = seen.get(name);
      return fact != null && fact.version() == version ? fact : null;
    } finally {
      guard.unlock();
    }
  }
}
