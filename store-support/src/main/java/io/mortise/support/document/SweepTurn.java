package io.mortise.support.document;

import io.mortise.support.document.VersionedDocuments.VersionedText;
import io.mortise.support.table.LockRecord;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * Decides whether it is this process's turn to sweep, by its observations of the turn's document.
 * Thread-safe.
 *
 * <p>The sweeping process writes the document about once a minute, a little later after a long
 * sweep. Another process takes the turn when it has seen the document unchanged for two minutes.
 * All clients over one store object count as one process: the store sweeps once for them.
 */
final class SweepTurn {
  /** A live process writes sooner, unless a sweep takes a minute. Two that sweep do no harm. */
  private static final long STANDS_STILL = LockRecord.micros(Duration.ofMinutes(2));

  /** A client asks every 53 to 60 s. A second client over the same store must not sweep again. */
  private static final long BETWEEN_OWN = LockRecord.micros(Duration.ofSeconds(45));

  /** Identifies this process's writes, also if the answer to a write was lost. */
  private final String own = Long.toHexString(ThreadLocalRandom.current().nextLong());

  private final LongSupplier micros;
  private final ReentrantLock guard = new ReentrantLock();

  /** The time of this process's last write of the document. Guarded by the lock. */
  private long written;

  /** The version that another process has written, as seen last; empty if none was. */
  private String seen = "";

  /** The time when that version was seen first. */
  private long seenSince;

  /**
   * The turn belongs to no process yet.
   *
   * @param micros a clock that never goes back
   */
  SweepTurn(LongSupplier micros) {
    this.micros = micros;
  }

  /** Records the document as it was read just now; returns whether the turn may be taken. */
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

  /** The text that takes or keeps the turn. */
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
