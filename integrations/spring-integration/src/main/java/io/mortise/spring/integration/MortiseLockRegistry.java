package io.mortise.spring.integration;

import io.mortise.LockClient;
import io.mortise.LockOptions;
import java.util.concurrent.locks.Lock;

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
 * is over. If the lease was lost, {@code unlock()} throws {@link
 * io.mortise.JavaLock.LeaseLostMonitorException}, and a re-entry throws {@link
 * io.mortise.LeaseLostException}. {@code lock()} survives interruption and outages; the other forms
 * throw {@link io.mortise.StoreUnavailableException} if the store does not answer in time. See
 * {@link io.mortise.JavaLock}.
 *
 * <p>Thread-safe. The caller closes the client.
 */
public final class MortiseLockRegistry extends KeyedLockRegistry<Lock> {
  private MortiseLockRegistry(KeyedLocks locks) {
    super(locks);
  }

  /** Uses a client, without prefix and options. */
  public static MortiseLockRegistry over(LockClient client) {
    return over(client, "", LockOptions.DEFAULTS);
  }

  /**
   * Uses a client.
   *
   * @param prefix the beginning of all lock names, which distinguishes the registries of a store
   * @param options of all holds; an at-most time is the registry's time to live
   * @throws IllegalArgumentException if the prefix has more than 441 bytes of UTF-8, or is not
   *     empty and no lock name
   */
  public static MortiseLockRegistry over(LockClient client, String prefix, LockOptions options) {
    return new MortiseLockRegistry(new KeyedLocks(client, prefix, options));
  }

  @Override
  Lock lock(KeyedLocks locks, String name) {
    return new KeyedLock(locks, name);
  }
}
