package io.mortise.internal.client;

import io.mortise.JavaLock;
import io.mortise.JavaLock.LeaseLostMonitorException;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockName;
import io.mortise.internal.engine.state.LeaseLeakDetector;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Counts, per thread, how often a lease is held. */
final class ThreadOwnedLock extends AbstractThreadOwnedLock implements JavaLock {
  private final Map<Thread, ReentrantHold> holds = new ConcurrentHashMap<>();

  private static final class ReentrantHold {
    final Lease lease;
    int count = 1;

    ReentrantHold(Lease lease) {
      this.lease = lease;
    }
  }

  ThreadOwnedLock(EngineLock lock) {
    super(lock);
  }

  @Override
  boolean reenter() {
    ReentrantHold hold = holds.get(Thread.currentThread());
    if (hold == null) {
      return false;
    }
    hold.lease.ensureValid();
    hold.count++;
    return true;
  }

  @Override
  void enter(Lease lease) {
    holds.put(Thread.currentThread(), new ReentrantHold(lease));
    LeaseLeakDetector.own(lease);
  }

  @Override
  public void unlock() {
    ReentrantHold hold = holds.get(Thread.currentThread());
    if (hold == null) {
      throw new IllegalMonitorStateException(
          "This thread does not hold lock '" + LockName.of(lock.name()) + "'.");
    }
    if (--hold.count > 0) {
      return;
    }
    holds.remove(Thread.currentThread());
    try {
      hold.lease.close();
    } catch (LeaseLostException e) {
      throw new LeaseLostMonitorException(e);
    } finally {
      LeaseLeakDetector.disown(hold.lease);
    }
  }

  @Override
  public Optional<Lease> lease() {
    @Nullable ReentrantHold hold = holds.get(Thread.currentThread());
    return hold == null ? Optional.empty() : Optional.of(hold.lease);
  }

  @Override
  public int getHoldCount() {
    @Nullable ReentrantHold hold = holds.get(Thread.currentThread());
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
