package io.mortise.dynamodb;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * The versions of documents that have no item, and so the first versions of new ones. DynamoDB
 * counts nothing, and a removed item leaves nothing, so two things take the place of a counter:
 *
 * <ul>
 *   <li><b>A clock</b> in tenths of a second: the time of day of this process, or the floor and the
 *       time since, whichever is later. It never goes back. So a version of absence tells when the
 *       look was.
 *   <li><b>A floor</b>, an item of the namespace: greater than the version of each item that is
 *       forgotten. It is raised an hour before that, and each process reads it again after two
 *       minutes. So new documents have greater versions than forgotten ones, whatever clocks show.
 * </ul>
 *
 * <p>Thread-safe.
 */
final class AbsentVersions {
  /** For so long a version of absence and a floor that was read are used. */
  static final Duration RECENT = Duration.ofMinutes(2);

  /**
   * For so long at least the item of a removed document stands. It is longer than any request that
   * was sent after a recent look lives: AWS refuses a signature after fifteen minutes at most.
   */
  static final Duration REMOVED_KEPT = Duration.ofHours(1);

  private static final long MICROS = 100_000;
  private static final long RECENT_MICROS = RECENT.toNanos() / 1000;

  /** No floor was read yet. */
  private static final long NEVER = Long.MIN_VALUE;

  private final LongSupplier micros;

  /** How far the clock is ahead of the time of day. Rises only. */
  private final AtomicLong ahead = new AtomicLong();

  private final AtomicLong floor = new AtomicLong();
  private final AtomicLong readAt = new AtomicLong(NEVER);

  /**
   * No floor is known yet.
   *
   * @param micros the time of day of this process, which never goes back
   */
  AbsentVersions(LongSupplier micros) {
    this.micros = micros;
  }

  /** The version of a document that is absent now. */
  long now() {
    return micros.getAsLong() / MICROS + ahead.get();
  }

  /** Whether a look that has found this version of absence was lately. */
  boolean isRecent(long version) {
    return (now() - version) * MICROS <= RECENT_MICROS;
  }

  /** Whether the floor was read lately. */
  boolean knowsFloor() {
    long at = readAt.get();
    return at != NEVER && micros.getAsLong() - at <= RECENT_MICROS;
  }

  /** The floor that is known here. */
  long floor() {
    return floor.get();
  }

  /** When a request begins that reads or raises the floor. */
  long begin() {
    return micros.getAsLong();
  }

  /** Takes in the floor that a request has met, or left. */
  void learn(long found, long begun) {
    floor.accumulateAndGet(found, Math::max);
    ahead.accumulateAndGet(found - begun / MICROS, Math::max);
    readAt.accumulateAndGet(begun, Math::max);
  }
}
