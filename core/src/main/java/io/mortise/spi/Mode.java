package io.mortise.spi;

import io.mortise.admin.LockParticipant.Access;
import io.mortise.admin.LockParticipant.Share;
import java.util.OptionalInt;

/**
 * The part of a lock that an attempt wants: a weight out of a capacity. Exclusive takes all of
 * {@link #SHARERS}, shared takes one of it, permits take k of n; so a mutex and the write side of a
 * read/write lock are one thing.
 *
 * @param weight the part that the attempt takes, 1 to {@code capacity}
 * @param capacity the lock's total; fixed by the first acquire of the record
 */
public record Mode(int weight, int capacity) {
  /** The capacity of locks that are not semaphores: the most readers at one time. */
  public static final int SHARERS = 1_000_000;

  /** The whole lock. */
  public static final Mode EXCLUSIVE = new Mode(SHARERS, SHARERS);

  /** One reader among others. */
  public static final Mode SHARED = new Mode(1, SHARERS);

  /**
   * Checks the numbers.
   *
   * @throws IllegalArgumentException unless 1 ≤ weight ≤ capacity ≤ {@link #SHARERS}
   */
  public Mode {
    if (weight < 1 || weight > capacity || capacity > SHARERS) {
      throw new IllegalArgumentException(
          "Cannot take "
              + weight
              + " of "
              + capacity
              + ". Expected 1 <= permits taken <= permits in all <= "
              + SHARERS
              + ".");
    }
  }

  /** k of n permits; n = {@link #SHARERS} is refused, as the capacity of read/write locks. */
  public static Mode permits(int k, int n) {
    if (n < 1 || n >= SHARERS) {
      throw new IllegalArgumentException(
          "A semaphore has 1 to " + (SHARERS - 1) + " permits, not " + n + ".");
    }
    return new Mode(k, n);
  }

  /** The mode for people: {@code exclusive}, {@code shared} or {@code 2 of 10 permits}. */
  public String text() {
    return text(weight, capacity);
  }

  /** The mode as a value of the API, from unchecked numbers. */
  public static Share share(int weight, int capacity) {
    if (capacity != SHARERS) {
      return new Share(Access.PERMITS, weight, capacity);
    }
    return new Share(weight == capacity ? Access.EXCLUSIVE : Access.SHARED, 0, 0);
  }

  /** The permits of a semaphore of this capacity; empty for locks and read/write locks. */
  public static OptionalInt permits(int capacity) {
    return capacity == SHARERS ? OptionalInt.empty() : OptionalInt.of(capacity);
  }

  /** The text of a mode from unchecked numbers, as a store shows them. */
  public static String text(int weight, int capacity) {
    if (weight == capacity) {
      return "exclusive";
    }
    return capacity == SHARERS ? "shared" : weight + " of " + capacity + " permits";
  }

  /** Whether no other attempt can hold at the same time. */
  public boolean isExclusive() {
    return weight == capacity;
  }
}
