package io.mortise.internal.client;

import io.mortise.JavaLock.LeaseLostMonitorException;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockException;
import io.mortise.LockName;
import io.mortise.internal.engine.state.LeaseLeakDetector;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Two re-entrant views on one read/write lock. A thread has one lease for both: exclusive while it
 * holds the write lock, narrowed to shared when it releases that but keeps the read lock.
 */
final class ThreadOwnedReadWriteLock implements ReadWriteLock {
  private static final Logger log = LoggerFactory.getLogger(ThreadOwnedReadWriteLock.class);

  private final LockSide read;
  private final LockSide write;
  private final Map<Thread, ReadWriteHold> holds = new ConcurrentHashMap<>();

  private static final class ReadWriteHold {
    final Lease lease;
    int reads;
    int writes;

    ReadWriteHold(Lease lease) {
      this.lease = lease;
    }
  }

  ThreadOwnedReadWriteLock(EngineLock read, EngineLock write) {
    this.read = new LockSide(read, false);
    this.write = new LockSide(write, true);
  }

  @Override
  public Lock readLock() {
    return read;
  }

  @Override
  public Lock writeLock() {
    return write;
  }

  @Override
  public String toString() {
    return "JavaReadWriteLock[" + read.lock.name() + "]";
  }

  private final class LockSide extends AbstractThreadOwnedLock {
    private final boolean writes;

    LockSide(EngineLock lock, boolean writes) {
      super(lock);
      this.writes = writes;
    }

    @Override
    boolean reenter() {
      ReadWriteHold hold = holds.get(Thread.currentThread());
      if (hold == null) {
        return false;
      }
      if (writes && hold.writes == 0) {
        throw new IllegalMonitorStateException(
            "This thread holds the read lock of '"
                + lock.name()
                + "' and would wait for itself on the write lock. Let go of the read lock first.");
      }
      hold.lease.ensureValid();
      count(hold, 1);
      return true;
    }

    @Override
    void enter(Lease lease) {
      ReadWriteHold hold = new ReadWriteHold(lease);
      count(hold, 1);
      holds.put(Thread.currentThread(), hold);
      LeaseLeakDetector.own(lease);
    }

    private void count(ReadWriteHold hold, int change) {
      if (writes) {
        hold.writes += change;
      } else {
        hold.reads += change;
      }
    }

    @Override
    public void unlock() {
      @Nullable ReadWriteHold hold = holds.get(Thread.currentThread());
      if (hold == null || (writes ? hold.writes : hold.reads) == 0) {
        throw new IllegalMonitorStateException(
            "This thread does not hold the "
                + (writes ? "write" : "read")
                + " lock of '"
                + lock.name()
                + "'.");
      }
      count(hold, -1);
      try {
        if (hold.reads == 0 && hold.writes == 0) {
          holds.remove(Thread.currentThread());
          hold.lease.close();
        } else if (writes && hold.writes == 0) {
          narrow(hold.lease);
        }
      } catch (LeaseLostException e) {
        throw new LeaseLostMonitorException(e);
      } finally {
        if (hold.reads == 0 && hold.writes == 0) {
          LeaseLeakDetector.disown(hold.lease);
        }
      }
    }

    /**
     * A hold that cannot be narrowed stays exclusive, which is stricter; an unlock must not fail.
     */
    private void narrow(Lease lease) {
      try {
        lease.downgrade();
      } catch (LeaseLostException e) {
        throw e;
      } catch (LockException e) {
        log.debug(
            "Lock '{}' stays exclusive until its read lock is released, too.",
            LockName.of(lock.name()),
            e);
      }
    }

    @Override
    public String toString() {
      return (writes ? "WriteLock[" : "ReadLock[") + lock.name() + "]";
    }

    @Override
    public Condition newCondition() {
      throw new UnsupportedOperationException("A distributed lock has no conditions.");
    }
  }
}
