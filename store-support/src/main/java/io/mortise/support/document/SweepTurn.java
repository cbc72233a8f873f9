package io.mortise.support.document;

import io.mortise.support.document.VersionedDocuments.VersionedText;
import io.mortise.support.table.LockRecord;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * Whose turn it is to sweep, by what this process has seen of the document of the turn, and when.
 * Thread-safe.
 *
 * <p>The sweeping process writes the document about once a minute, after a sweep that took long a
 * little later. Another process takes the turn when it has seen the document unchanged for two
 * minutes. All clients over one store object count as one process: the store sweeps once for them.
 */
final class SweepTurn {
  /** A live process writes sooner, unless a sweep takes a minute. Two that sweep do no harm. */
  private static final long STANDS_STILL = LockRecord.micros(Duration.ofMinutes(2));

  /** A client asks each 53 to 60 s. Another one over the same store would have it swept twice. */
  private static final long BETWEEN_OWN = LockRecord.micros(Duration.ofSeconds(45));

  /** Tells what was written here from what others wrote, also if the answer to a write was lost. */
  private final String own = Long.toHexString(ThreadLocalRandom.current().nextLong());

  private final LongSupplier micros;
  private final ReentrantLock guard = new ReentrantLock();

  /** When this process has written the document last. Guarded by the lock. */
  private long written;

  /** The version that another process has written, as it was seen last; empty if none was. */
  private String seen = "";

  /** When that was seen for the first time. */
  private long seenSince;

  /**
   * Nobody's turn yet.
   *
   * @param micros a clock that never goes back
   */
  SweepTurn(LongSupplier micros) {
    this.micros = micros;
  }

  /** Takes in the document as it was read just now; returns whether the turn may be taken. */
  boolean isFree(VersionedText found) {
    guard.lock();
    try {
      long now = micros.getAsLong();
      if (found.text() == null) {
        return true;
      } else if (isOwn(found)) {
        return now - written >= BETWEEN_OWN;
      } else if (found.version().equals(seen)) {
        return now - seenSince >= STANDS_STILL;
      }
      seen = found.version();
      seenSince = now;
      return false;
    } finally {
      guard.unlock();
    }
  }

  /** Whether this process has written the document last. */
  boolean isOwn(VersionedText found) {
    return own.equals(found.text());
  }

  /** What to write to take the turn now, or to keep it. */
  String take() {
    guard.lock();
    try {
      written = micros.getAsLong();
      return own;
    } finally {
      guard.unlock();
    }
  }
}
