package io.mortise.sql;

import io.mortise.spi.time.DurationText;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Repeats a read and its {@link VersionedUpdate} while others get ahead, a bounded number of times.
 * Between two tries it waits a random time below a bound that doubles, so that those who collided
 * do not collide again. Immutable, thread-safe.
 */
public final class OptimisticRetry {
  /** Ten tries, bounds from 5 ms to 200 ms: under a second in all. */
  public static final OptimisticRetry DEFAULTS =
      new OptimisticRetry(10, Duration.ofMillis(5), Duration.ofMillis(200));

  private final int tries;
  private final long firstNanos;
  private final long mostNanos;
  private final Sleeper sleeper;
  private final RandomGenerator random;

  /**
   * With other numbers.
   *
   * @param tries in all, from 1 on
   * @param first the bound of the first wait
   * @param most what the bound doubles up to
   * @throws IllegalArgumentException if there is no try, or a wait is negative or longer than a
   *     minute
   */
  public OptimisticRetry(int tries, Duration first, Duration most) {
    this(tries, first, most, TimeUnit.NANOSECONDS::sleep, null);
  }

  OptimisticRetry(
      int tries, Duration first, Duration most, Sleeper sleeper, @Nullable RandomGenerator random) {
    if (tries < 1 || first.isNegative() || most.compareTo(first) < 0 || most.toMinutes() > 1) {
      throw new IllegalArgumentException(
          "Cannot try %s times with waits from %s to %s. Expected at least one try, and 0 <= first <= most <= 1m."
              .formatted(tries, DurationText.formatExact(first), DurationText.formatExact(most)));
    }
    this.tries = tries;
    this.firstNanos = first.toNanos();
    this.mostNanos = most.toNanos();
    this.sleeper = sleeper;
    this.random = random == null ? () -> ThreadLocalRandom.current().nextLong() : random;
  }

  /** Waits; in tests without waiting. */
  @FunctionalInterface
  interface Sleeper {
    void sleep(long nanos) throws InterruptedException;
  }

  /** One try: reads the row, and updates it with the version read. */
  @FunctionalInterface
  public interface Attempt {
    /**
     * Reads and updates. Each try has to see what others committed: end your transaction after a
     * {@link VersionedUpdate.Stale}, and begin another.
     *
     * @return what {@link VersionedUpdate#execute} returned
     */
    VersionedUpdate.Outcome run() throws SQLException;
  }

  /**
   * Runs the attempt until it is not {@link VersionedUpdate.Stale}, or the tries are used up.
   * Blocks.
   *
   * @return what the last try came to: {@link VersionedUpdate.Stale} if all tries were in vain
   * @throws InterruptedException if this thread is interrupted while it waits between two tries
   * @throws SQLException what the attempt throws; it is not repeated after that
   */
  public VersionedUpdate.Outcome run(Attempt attempt) throws SQLException, InterruptedException {
    long bound = firstNanos;
    for (int left = tries; ; left--) {
      VersionedUpdate.Outcome outcome = attempt.run();
      if (left == 1 || !(outcome instanceof VersionedUpdate.Stale)) {
        return outcome;
      }
      sleeper.sleep(bound == 0 ? 0 : random.nextLong(bound));
      bound = Math.min(bound * 2, mostNanos);
    }
  }
}
