package io.mortise.spring.integration;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/** The lock of a key: without state, so all objects of a key are interchangeable. */
class KeyedLock implements Lock {
  private final KeyedLocks locks;
  private final String name;

  KeyedLock(KeyedLocks locks, String name) {
    this.locks = locks;
    this.name = name;
  }

  @Override
  public void lock() {
    locks.lock(name, null);
  }

  @Override
  public void lockInterruptibly() throws InterruptedException {
    locks.lockInterruptibly(name);
  }

  @Override
  public boolean tryLock() {
    return locks.tryLock(name);
  }

  @Override
  public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
    return locks.tryLock(name, time, unit, null);
  }

  final void lockAtMost(Duration atMost) {
    locks.lock(name, atMost);
  }

  final boolean tryLockAtMost(Duration wait, Duration atMost) throws InterruptedException {
    return locks.tryLock(name, saturatedNanos(wait), TimeUnit.NANOSECONDS, atMost);
  }

  static long saturatedNanos(Duration wait) {
    try {
      return wait.toNanos();
    } catch (ArithmeticException e) {
      return wait.isNegative() ? 0 : Long.MAX_VALUE;
    }
  }

  @Override
  public void unlock() {
    locks.unlock(name);
  }

  @Override
  public Condition newCondition() {
    throw new UnsupportedOperationException("A distributed lock has no conditions.");
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof KeyedLock that && locks == that.locks && name.equals(that.name);
  }

  @Override
  public int hashCode() {
    return name.hashCode();
  }

  @Override
  public String toString() {
    return "Lock[" + name + "]";
  }
}
