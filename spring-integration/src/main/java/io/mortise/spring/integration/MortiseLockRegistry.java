package io.mortise.spring.integration;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockOptions;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.locks.Lock;
import org.springframework.integration.support.locks.RenewableLockRegistry;

/**
 * A lock registry of Spring Integration over a lock client: one bean to replace. For Spring
 * Integration 6.5 and later; with 7 and later see {@link MortiseDistributedLockRegistry}.
 *
 * <p>The name of a lock is the prefix and the text of the key. A text that is no lock name, because
 * it is too long or has control characters, is replaced by its SHA-256. Two keys are one lock only
 * if their texts are equal. A key whose type has no {@code toString} of its own is refused with
 * {@link IllegalArgumentException}.
 *
 * <p>Locks belong to threads and are re-entrant, also when {@link #obtain} is called again for each
 * use; re-entry costs no I/O. Holds are counted per registry: two registries over one client
 * exclude each other, in one thread too. A registry caches nothing, so there is nothing to expire.
 *
 * <p>A hold is renewed by itself until {@code unlock()}, or until the at-most time of the options
 * is over. Where the lease was lost, {@code unlock()} throws {@link
 * io.mortise.LeaseLostMonitorException}, and taking it once more {@link
 * io.mortise.LeaseLostException}. {@code lock()} survives interruption and outages; the other forms
 * throw {@link io.mortise.StoreUnavailableException} if the store does not answer in time. See
 * {@link io.mortise.JavaLock}.
 *
 * <p>Thread-safe. The client stays the caller's to close.
 */
public final class MortiseLockRegistry implements RenewableLockRegistry<Lock> {
  private final KeyedLocks locks;

  private MortiseLockRegistry(KeyedLocks locks) {
    this.locks = locks;
  }

  /** Over a client, without prefix and options. */
  public static MortiseLockRegistry over(LockClient client) {
    return over(client, "", LockOptions.DEFAULTS);
  }

  /**
   * Over a client.
   *
   * @param prefix what the names of all locks begin with: tells the registries of a store apart
   * @param options of all holds; an at-most time is the registry's time to live
   * @throws IllegalArgumentException if the prefix has more than 441 bytes of UTF-8, or is not
   *     empty and no lock name
   */
  public static MortiseLockRegistry over(LockClient client, String prefix, LockOptions options) {
    return new MortiseLockRegistry(new KeyedLocks(client, prefix, options));
  }

  /**
   * The lock of a key. Does not block. Two objects for one key are equal, and the same lock.
   *
   * @throws IllegalArgumentException if the key's type has no text of its own
   */
  @Override
  public Lock obtain(Object lockKey) {
    return new KeyedLock(locks, locks.name(lockKey));
  }

  /**
   * Restarts the at-most time that this thread's hold has. A hold without needs no renewal: it is
   * only checked. Blocks for one round trip.
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
   * Restarts the at-most time of this thread's hold with another one. Blocks for one round trip.
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

  /**
   * The lease of this thread's hold through this registry: for its fencing token, and to be told of
   * its loss. Empty if this thread does not hold the lock. Does not block.
   */
  public Optional<Lease> lease(Object lockKey) {
    return locks.lease(locks.name(lockKey));
  }

  @Override
  public String toString() {
    return "MortiseLockRegistry" + locks;
  }
}
