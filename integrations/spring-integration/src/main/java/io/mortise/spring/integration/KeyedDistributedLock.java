package io.mortise.spring.integration;

import java.time.Duration;
import java.util.Objects;
import org.springframework.integration.support.locks.DistributedLock;

/**
 * A lock with a time for each hold. Loaded only with Spring Integration 7, which has the interface.
 */
final class KeyedDistributedLock extends KeyedLock implements DistributedLock {
  KeyedDistributedLock(KeyedLocks locks, String name) {
    super(locks, name);
  }

  @Override
  public void lock(Duration ttl) {
    lockAtMost(Objects.requireNonNull(ttl, "ttl"));
  }

  @Override
  public boolean tryLock(Duration waitTime, Duration ttl) throws InterruptedException {
    return tryLockAtMost(
        Objects.requireNonNull(waitTime, "waitTime"), Objects.requireNonNull(ttl, "ttl"));
  }
}
