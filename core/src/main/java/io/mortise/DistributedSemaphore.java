package io.mortise;

/**
 * A number of permits, fixed by whoever uses the name first; a client that gives another number is
 * refused. Permits of a dead process return. Thread-safe.
 */
public interface DistributedSemaphore {
  /** How many permits there are in all. */
  int permits();

  /** One permit. */
  default DistributedLock permit() {
    return permits(1);
  }

  /**
   * So many permits, all or none.
   *
   * @throws IllegalArgumentException if there are not so many in all, or less than one is asked for
   */
  DistributedLock permits(int count);
}
