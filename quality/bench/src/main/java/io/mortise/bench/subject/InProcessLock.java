package io.mortise.bench.subject;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/** The JDK's lock: the cost of a lock within one process. */
final class InProcessLock implements Subject {
  private final boolean fair;
  private final Map<String, Lock> locks = new ConcurrentHashMap<>();

  InProcessLock(ReentrantLock kind) {
    this.fair = kind.isFair();
  }

  @Override
  public LockHandle lockHandle(String name) {
    return lockHandle(locks.computeIfAbsent(name, absent -> new ReentrantLock(fair)));
  }

  /** A handle of any {@link Lock}. */
  static LockHandle lockHandle(Lock lock) {
    return new LockHandle() {
      @Override
      public boolean take(long waitMillis) throws InterruptedException {
        return lock.tryLock(waitMillis, TimeUnit.MILLISECONDS);
      }

      @Override
      public void release() {
        lock.unlock();
      }
    };
  }

  @Override
  public void close() {}
}
