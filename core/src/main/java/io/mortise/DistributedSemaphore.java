package io.mortise;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A semaphore. The first client that uses the name fixes the number of permits; a client that gives
 * another number is refused. The permits of a dead process become free again. Thread-safe.
 */
public interface DistributedSemaphore {
  /** The semaphore's name. */
  String name();

  /** The number of permits in all. */
  int permits();

  /** One permit. */
  default DistributedLock permit() {
    return permits(1);
  }

  /**
   * The given number of permits, all or none.
   *
   * @throws IllegalArgumentException if the number is below one or above {@link #permits()}
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
