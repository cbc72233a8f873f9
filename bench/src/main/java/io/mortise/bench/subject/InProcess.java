package io.mortise.bench.subject;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/** The JDK's lock: what a lock costs that protects against threads only. */
final class InProcess implements Subject {
  private final boolean fair;
  private final Map<String, Lock> locks = new ConcurrentHashMap<>();

  InProcess(ReentrantLock kind) {
    this.fair = kind.isFair();
  }

  @Override
  public Grip grip(String name) {
    return grip(locks.computeIfAbsent(name, absent -> new ReentrantLock(fair)));
  }

  /** A grip of anything that looks like a lock of the JDK. */
  static Grip grip(Lock lock) {
    return new Grip() {
      @Override
      public boolean take(long waitMillis) throws InterruptedException {
        return lock.tryLock(waitMillis, TimeUnit.MILLISECONDS);
      }

      @Override
      public void give() {
        lock.unlock();
      }
    };
  }

  @Override
  public void close() {}
}
