package io.mortise.shedlock;

import java.time.Duration;
import java.util.Optional;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;

/** Holds the lock of one provider around that of another. Thread-safe. */
record NestedLockProvider(LockProvider outer, LockProvider inner)
    implements ExtensibleLockProvider {
  @Override
  public Optional<SimpleLock> lock(LockConfiguration configuration) {
    Optional<SimpleLock> around = outer.lock(configuration);
    if (around.isEmpty()) {
      return around;
    }
    Optional<SimpleLock> inside = Optional.empty();
    try {
      inside = inner.lock(configuration);
    } finally {
      if (inside.isEmpty()) {
        around.get().unlock();
      }
    }
    return inside.map(lock -> new NestedSimpleLock(around.get(), lock));
  }

  /** Two locks as one. What was extended alone can still be unlocked. */
  private static final class NestedSimpleLock implements SimpleLock {
    private volatile SimpleLock outer;
    private volatile SimpleLock inner;

    NestedSimpleLock(SimpleLock outer, SimpleLock inner) {
      this.outer = outer;
      this.inner = inner;
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
}
