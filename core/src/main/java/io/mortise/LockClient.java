package io.mortise;

import io.mortise.spi.AttemptId;
import io.mortise.spi.LockPage;
import io.mortise.spi.LockQuery;
import io.mortise.spi.LockStore.Eviction;
import io.mortise.spi.LockView;
import io.mortise.spi.Reply;
import io.mortise.spi.StoreProfile;
import java.util.Optional;

/**
 * A process's access to the locks of one store. One per store and process is enough; thread-safe.
 *
 * <p>Lock names are 1 to 512 bytes of UTF-8 without control characters; every method that takes one
 * throws {@link IllegalArgumentException} for another, before anything is sent. After {@link
 * #close()} they throw {@link IllegalStateException}.
 */
public interface LockClient extends AutoCloseable {
  /**
   * Connects with the defaults of {@link #builder()}. Blocks.
   *
   * @throws IllegalArgumentException if no store knows the URL, or a parameter of it is unknown or
   *     wrong
   * @throws StoreUnavailableException if the store cannot be reached
   * @throws StoreUnfitException if it can, but must not be used as it is
   */
  static LockClient connect(String url) {
    return builder().url(url).build();
  }

  /** Connects with settings of your own, or over a store of your own. */
  static LockClientBuilder builder() {
    return new LockClientBuilder();
  }

  /** An exclusive lock: the write side of the read/write lock of that name. */
  DistributedLock lock(String name);

  /** An exclusive lock with options. */
  default DistributedLock lock(String name, LockOptions options) {
    return lock(name).with(options);
  }

  /** A read/write lock. */
  DistributedReadWriteLock readWriteLock(String name);

  /**
   * A semaphore. All clients that use the name must give the same number of permits.
   *
   * @throws IllegalArgumentException if it is below 1 or above 999,999
   */
  DistributedSemaphore semaphore(String name, int permits);

  /**
   * All of these locks, or none.
   *
   * @throws IllegalArgumentException if there is no name, or one twice
   */
  LockGroup allOf(String... names);

  /**
   * Looks at one lock. Blocks for one round trip.
   *
   * @return empty if the store knows nothing of it: free, and not used lately
   * @throws StoreUnavailableException if the store does not answer
   */
  Optional<LockView> inspect(String name);

  /**
   * Looks at many locks, a page at a time. Blocks for one round trip.
   *
   * @throws StoreUnavailableException if the store does not answer
   */
  LockPage inspect(LockQuery query);

  /**
   * Ends somebody's hold or wait. Blocks for one round trip. {@link Eviction#CLOSE} tells the
   * holder and keeps the lock shut until it has let go or its session is over; {@link
   * Eviction#BREAK} frees it at once, while the holder may go on believing.
   *
   * @param attempt as {@link #inspect(String)} shows it
   * @return what the attempt did
   * @throws StoreUnavailableException if the store does not answer
   * @throws UnsupportedByStoreException if the store cannot evict
   */
  Reply.Was evict(String name, AttemptId attempt, Eviction how);

  /**
   * Opens a lock that nobody holds any more but that is kept shut: by the at-least time of its last
   * hold, or because that holder crashed under one. Blocks for one round trip. Whoever waits gets
   * it; who relied on the time does not hear of it.
   *
   * @return whether it was shut
   * @throws StoreUnavailableException if the store does not answer
   * @throws UnsupportedByStoreException if the store cannot evict
   */
  boolean reopen(String name);

  /** What the store is and can do. */
  StoreProfile profile();

  /**
   * Gives everything up, and waits for the store's answers, for a few seconds at most. Leases still
   * open are lost first.
   */
  @Override
  void close();
}
