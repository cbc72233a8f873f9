package io.mortise.spring.integration;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockOptions;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.RenewableLockRegistry;

/**
 * As {@link MortiseLockRegistry}, for Spring Integration 7 and later: its locks are {@link
 * DistributedLock}s, which take a time to live with each hold. The store ends the hold after that
 * time, renewed or not, and the holder is told. A re-entry restarts the time of a hold that has
 * one, and gives none to a hold without.
 *
 * <p>A store without at-most times refuses such a hold with {@link
 * io.mortise.UnsupportedByStoreException}; a time that is not within 1 ms and 10 years is refused
 * with {@link IllegalArgumentException}. Thread-safe. The client stays the caller's to close.
 */
public final class MortiseDistributedLockRegistry
    implements RenewableLockRegistry<DistributedLock> {
  private final KeyedLocks locks;

  private MortiseDistributedLockRegistry(KeyedLocks locks) {
    this.locks = locks;
  }

  /** Over a client, without prefix and options. */
  public static MortiseDistributedLockRegistry over(LockClient client) {
    return over(client, "", LockOptions.DEFAULTS);
  }

  /**
   * Over a client.
   *
   * @param prefix what the names of all locks begin with: tells the registries of a store apart
   * @param options of all holds; an at-most time is the time to live of holds without their own
   * @throws IllegalArgumentException if the prefix has more than 441 bytes of UTF-8, or is not
   *     empty and no lock name
   */
  public static MortiseDistributedLockRegistry over(
      LockClient client, String prefix, LockOptions options) {
    return new MortiseDistributedLockRegistry(new KeyedLocks(client, prefix, options));
  }

  /**
   * The lock of a key. Does not block. Two objects for one key are equal, and the same lock.
   *
   * @throws IllegalArgumentException if the key's type has no text of its own
   */
  @Override
  public DistributedLock obtain(Object lockKey) {
    return new KeyedDistributedLock(locks, locks.name(lockKey));
  }

  /**
   * As {@link MortiseLockRegistry#renewLock(Object)}.
   *
   * @throws IllegalStateException if this thread does not hold the lock through this registry
   * @throws io.mortise.LeaseLostException if the lease was lost
   * @throws io.mortise.StoreUnavailableException if the store does not answer; the old time, or the
   *     new one, is in force
   */
  @Override
  public void renewLock(Object lockKey) {
    locks.renew(locks.name(lockKey), null);
  }

  /**
   * As {@link MortiseLockRegistry#renewLock(Object, Duration)}.
   *
   * @throws IllegalArgumentException if the time is not within 1 ms and 10 years
   * @throws IllegalStateException if this thread does not hold the lock through this registry
   * @throws io.mortise.LeaseLostException if the lease was lost
   * @throws io.mortise.UnsupportedByStoreException if the store keeps no at-most times
   * @throws io.mortise.StoreUnavailableException if the store does not answer; the old time, or the
   *     new one, is in force
   */
  @Override
  public void renewLock(Object lockKey, Duration ttl) {
    locks.renew(locks.name(lockKey), Objects.requireNonNull(ttl, "ttl"));
  }

  /** As {@link MortiseLockRegistry#lease}. */
  public Optional<Lease> lease(Object lockKey) {
    return locks.lease(locks.name(lockKey));
  }

  @Override
  public String toString() {
    return "MortiseDistributedLockRegistry" + locks;
  }
}
