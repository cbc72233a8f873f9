package io.mortise.admin;

import java.time.Duration;
import java.util.Set;

/**
 * The name and the features of a store.
 *
 * @param display its name in messages and logs; holds no secret
 * @param features the features of its locks
 * @param shortestTtl the shortest session TTL that it can keep
 */
public record StoreInfo(String display, Set<Feature> features, Duration shortestTtl) {
  /** Copies the set. */
  public StoreInfo {
    features = Set.copyOf(features);
  }

  /** Whether its locks have this feature. */
  public boolean has(Feature feature) {
    return features.contains(feature);
  }

  /** Features that some stores lack. */
  public enum Feature {
    /** A queue in the store: waiters of several processes are served in their order of arrival. */
    QUEUE,
    /** {@link io.mortise.LockClient#readWriteLock}: several readers at one time. */
    SHARED,
    /** {@link io.mortise.LockClient#semaphore}. */
    PERMITS,
    /** {@link io.mortise.LockOptions#withAtLeast}. */
    AT_LEAST,
    /**
     * The store counts at-least times itself. Without this, processes do, from when each has seen
     * that the lock is held or shut: a process that has just started finds it shut.
     */
    COUNTS_AT_LEAST,
    /** {@link io.mortise.Lease#fencingToken}. */
    FENCING_TOKENS,
    /** {@link io.mortise.Lease#downgrade}. */
    DOWNGRADE,
    /** {@link LockAdmin#evict} and {@link LockAdmin#reopen}. */
    EVICTION,
    /** {@link io.mortise.LockOptions#withSticky}. */
    STICKY
  }
}
