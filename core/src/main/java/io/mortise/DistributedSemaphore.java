package io.mortise;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A number of permits, fixed by the first client that uses the name; a client that gives another
 * number is refused. Permits of a dead process return. Thread-safe.
 */
public interface DistributedSemaphore {
  /** The semaphore's name. */
  String name();

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

  /** Acquires one permit: {@link DistributedLock#acquire()} of {@link #permit()}. */
  default Lease acquire() throws InterruptedException {
    return permit().acquire();
  }

  /** Acquires one permit: {@link DistributedLock#acquireWithin} of {@link #permit()}. */
  default Lease acquireWithin(Duration wait) throws InterruptedException {
    return permit().acquireWithin(wait);
  }

  /** Tries once for one permit: {@link DistributedLock#tryAcquire()} of {@link #permit()}. */
  default Optional<Lease> tryAcquire() {
    return permit().tryAcquire();
  }

  /** Tries for one permit: {@link DistributedLock#tryAcquire(Duration)} of {@link #permit()}. */
  default Optional<Lease> tryAcquire(Duration wait) throws InterruptedException {
    return permit().tryAcquire(wait);
  }

  /** Acquires one permit: {@link DistributedLock#acquireAsync()} of {@link #permit()}. */
  default CompletableFuture<Lease> acquireAsync() {
    return permit().acquireAsync();
  }

  /** Acquires one permit: {@link DistributedLock#acquireAsync(Duration)} of {@link #permit()}. */
  default CompletableFuture<Lease> acquireAsync(Duration wait) {
    return permit().acquireAsync(wait);
  }
}
