package io.mortise.spring.integration;

import io.mortise.LockClient;
import io.mortise.LockOptions;
import org.springframework.integration.support.locks.DistributedLock;

/**
 * As {@link MortiseLockRegistry}, for Spring Integration 7 and later: its locks are {@link
 * DistributedLock}s, which take a time to live with each hold. The store ends the hold after that
 * time, renewed or not, and the holder is told. A re-entry restarts the time of a hold that has
 * one, and gives none to a hold without.
 *
 * <p>A store without at-most times refuses such a hold with {@link
 * io.mortise.UnsupportedByStoreException}; a time that is not within 1 ms and 10 years is refused
 * with {@link IllegalArgumentException}. Thread-safe. The caller closes the client.
 */
public final class MortiseDistributedLockRegistry extends KeyedLockRegistry<DistributedLock> {
  private MortiseDistributedLockRegistry(KeyedLocks locks) {
    super(locks);
  }

  /** Uses a client, without prefix and options. */
  public static MortiseDistributedLockRegistry over(LockClient client) {
    return over(client, "", LockOptions.DEFAULTS);
  }

  /**
   * Uses a client.
   *
   * @param prefix the beginning of all lock names, which distinguishes the registries of a store
   * @param options of all holds; an at-most time is the time to live of holds without their own
   * @throws IllegalArgumentException if the prefix has more than 441 bytes of UTF-8, or is not
   *     empty and no lock name
   */
  public static MortiseDistributedLockRegistry over(
      LockClient client, String prefix, LockOptions options) {
    return new MortiseDistributedLockRegistry(new KeyedLocks(client, prefix, options));
  }

  @Override
  DistributedLock lock(KeyedLocks locks, String name) {
    return new KeyedDistributedLock(locks, name);
  }
}
