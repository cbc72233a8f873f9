package io.mortise.shedlock;

import java.time.Duration;
import java.util.Optional;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;

/** Two locks as one. What was extended alone can still be unlocked. Thread-safe. */
final class NestedSimpleLock implements SimpleLock {
  private volatile SimpleLock outer;
  private volatile SimpleLock inner;

  private NestedSimpleLock(SimpleLock outer, SimpleLock inner) {
    this.outer = outer;
    this.inner = inner;
  }

  /** Takes the lock of one provider, and that of another inside it. */
  static Optional<SimpleLock> lock(
      LockProvider outer, LockProvider inner, LockConfiguration configuration) {
    Optional<SimpleLock> around = outer.lock(configuration);
    if (around.isEmpty()) {
      return around;
    }
    Optional<SimpleLock> inside = Optional.empty();
    try {
      inside = inner.lock(configuration);
    } finally {
      if (inside.isEmpty()) {
        unused(around.get(), configuration).ifPresent(SimpleLock::unlock);
      }
    }
    return inside.map(lock -> new NestedSimpleLock(around.get(), lock));
  }

  /** The lock without its at-least time, as nothing has run under it. */
  private static Optional<SimpleLock> unused(SimpleLock lock, LockConfiguration configuration) {
    try {
      return lock.extend(configuration.getLockAtMostFor(), Duration.ZERO);
    } catch (UnsupportedOperationException e) {
      return Optional.of(lock);
    }
  }

  @Override
  public void unlock() {
    try {
      inner.unlock();
    } finally {
      outer.unlock();
    }
  }

  @Override
  public Optional<SimpleLock> extend(Duration lockAtMostFor, Duration lockAtLeastFor) {
    Optional<SimpleLock> around = outer.extend(lockAtMostFor, lockAtLeastFor);
    if (around.isEmpty()) {
      return around;
    }
    outer = around.get();
    Optional<SimpleLock> inside = inner.extend(lockAtMostFor, lockAtLeastFor);
    if (inside.isEmpty()) {
      return inside;
    }
    inner = inside.get();
    return Optional.of(new NestedSimpleLock(outer, inner));
  }
}
