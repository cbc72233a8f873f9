package io.mortise;

import java.time.Duration;
import java.util.Objects;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * How to acquire. Immutable; start from {@link #DEFAULTS}.
 *
 * @param fair strictly first come, first served, also between threads of one process: nobody passes
 *     a waiter. Without it a newcomer may pass a thread that is being woken, at most 8 times and
 *     for 1 ms. Where the store has no queue, only the threads of one process are in order
 * @param releaseAsync {@link Lease#close()} does not wait for the store's answer
 * @param terms times that the store keeps, and a label for people
 * @param maxWaiters how many may wait already when an acquire begins to wait; empty for no limit
 */
public record LockOptions(boolean fair, boolean releaseAsync, Terms terms, OptionalInt maxWaiters) {
  /** Refuses no terms: {@link Terms#NONE} are none. */
  public LockOptions {
    Objects.requireNonNull(terms, "terms");
    Objects.requireNonNull(maxWaiters, "maxWaiters");
  }

  /** Not fair, close waits for the answer, no times, no label. */
  public static final LockOptions DEFAULTS =
      new LockOptions(false, false, Terms.NONE, OptionalInt.empty());

  /** See {@link #fair()}. */
  public LockOptions withFair(boolean value) {
    return new LockOptions(value, releaseAsync, terms, maxWaiters);
  }

  /** See {@link #releaseAsync()}. */
  public LockOptions withReleaseAsync(boolean value) {
    return new LockOptions(fair, value, terms, maxWaiters);
  }

  /**
   * The store frees the lock no later than this after the grant, renewed or not. For jobs that must
   * not hold for ever.
   *
   * @throws IllegalArgumentException if it is not within 1 ms and 10 years, or shorter than the
   *     at-least time
   */
  public LockOptions withAtMost(@Nullable Duration value) {
    return new LockOptions(
        fair, releaseAsync, new Terms(value, terms.atLeast(), terms.label()), maxWaiters);
  }

  /**
   * The store keeps the lock shut until this after the grant, also when it is released or its
   * holder dies. For jobs that must not run twice within a time.
   *
   * @throws IllegalArgumentException if it is not within 1 ms and 10 years, or longer than the
   *     at-most time
   */
  public LockOptions withAtLeast(@Nullable Duration value) {
    return new LockOptions(
        fair, releaseAsync, new Terms(terms.atMost(), value, terms.label()), maxWaiters);
  }

  /**
   * What {@link LockClient#admin} shows people about the attempt.
   *
   * @throws IllegalArgumentException if it is longer than 100 characters or has a control character
   */
  public LockOptions withLabel(String value) {
    Objects.requireNonNull(value, "value");
    return new LockOptions(
        fair, releaseAsync, new Terms(terms.atMost(), terms.atLeast(), value), maxWaiters);
  }

  /**
   * An acquire that would have to wait is refused at once if so many wait already: with a {@link
   * LockTimeoutException} that says how many, or as empty by {@link
   * DistributedLock#tryAcquire(java.time.Duration)}. For services that shed load instead of
   * gathering waiters. Zero never waits.
   *
   * <p>The threads of this process that wait count one each. Another process counts as one for all
   * its threads, unless they are fair. An acquire that waits is not refused later. Stores without a
   * queue refuse an acquire with this option: {@link UnsupportedByStoreException}.
   *
   * @throws IllegalArgumentException if it is negative
   */
  public LockOptions withMaxWaiters(int value) {
    if (value < 0) {
      throw new IllegalArgumentException(
          "At most %d waiters cannot be. Give zero or more.".formatted(value));
    }
    return new LockOptions(fair, releaseAsync, terms, OptionalInt.of(value));
  }
}
