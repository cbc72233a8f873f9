package io.mortise.internal.engine;

import io.mortise.JavaLock;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LeaseLostMonitorException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Counts, per thread, how often a lease is held. */
final class ThreadOwnedLock implements JavaLock {
  private final EngineLock lock;
  private final Map<Thread, Hold> holds = new ConcurrentHashMap<>();

  private static final class Hold {
    final Lease lease;
    int count = 1;

    Hold(Lease lease) {
      this.lease = lease;
    }
  }

  ThreadOwnedLock(EngineLock lock) {
    this.lock = lock;
  }

  @Override
  public void lock() {
    if (!reenter()) {
      enter(lock.acquireUninterruptibly());
    }
  }

  @Override
  public void lockInterruptibly() throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException("interrupted before locking '" + lock.name() + "'");
    }
    if (!reenter()) {
      enter(lock.acquire());
    }
  }

  @Override
  public boolean tryLock() {
    return reenter() || enter(lock.tryAcquire());
  }

  @Override
  public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException("interrupted before locking '" + lock.name() + "'");
    }
    Duration wait = Duration.of(Math.max(0, time), unit.toChronoUnit());
    return reenter() || enter(lock.tryAcquire(wait));
  }

  private boolean reenter() {
    Hold hold = holds.get(Thread.currentThread());
    if (hold == null) {
      return false;
    }
    hold.lease.ensureValid();
    hold.count++;
    return true;
  }

  private void enter(Lease lease) {
    holds.put(Thread.currentThread(), new Hold(lease));
  }

  private boolean enter(Optional<Lease> lease) {
    lease.ifPresent(this::enter);
    return lease.isPresent();
  }

  @Override
  public void unlock() {
    Hold hold = holds.get(Thread.currentThread());
    if (hold == null) {
      throw new IllegalMonitorStateException(
          "This thread does not hold lock '" + lock.name() + "'.");
    }
    if (--hold.count > 0) {
      return;
    }
    holds.remove(Thread.currentThread());
    try {
      hold.lease.close();
    } catch (LeaseLostException e) {
      throw new LeaseLostMonitorException(e);
    }
  }

  @Override
  public Optional<Lease> lease() {
    @Nullable Hold hold = holds.get(Thread.currentThread());
    return hold == null ? Optional.empty() : Optional.of(hold.lease);
  }

  @Override
  public int getHoldCount() {
    @Nullable Hold hold = holds.get(Thread.currentThread());
    return hold == null ? 0 : hold.count;
  }

  @Override
  public boolean isLocked() {
    return !holds.isEmpty();
  }

  @Override
  public String toString() {
    return "JavaLock[" + lock.name() + (isLocked() ? ", locked]" : "]");
  }
}
