package io.mortise.internal.client;

import io.mortise.Lease;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;

/** The lock methods of views that belong to threads: re-entry costs no I/O. */
abstract class AbstractThreadOwnedLock implements Lock {
  final EngineLock lock;

  AbstractThreadOwnedLock(EngineLock lock) {
    this.lock = lock;
  }

  /** Counts one more hold if this thread holds already. */
  abstract boolean reenter();

  /** Records that this thread holds. */
  abstract void enter(Lease lease);

  @Override
  public void lock() {
    if (!reenter()) {
      enter(lock.acquireUninterruptibly());
    }
  }

  @Override
  public void lockInterruptibly() throws InterruptedException {
    refuseInterrupted();
    if (!reenter()) {
      enter(lock.acquire());
    }
  }

  @Override
  public boolean tryLock() {
    return reenter() || enterIfPresent(lock.tryAcquire());
  }

  @Override
  public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
    Objects.requireNonNull(unit, "unit");
    refuseInterrupted();
    return reenter()
        || enterIfPresent(lock.tryAcquire(Duration.ofNanos(unit.toNanos(Math.max(0, time)))));
  }

  private void refuseInterrupted() throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException("interrupted before locking '" + lock.name() + "'");
    }
  }

  private boolean enterIfPresent(Optional<Lease> lease) {
    lease.ifPresent(this::enter);
    return lease.isPresent();
  }
}
