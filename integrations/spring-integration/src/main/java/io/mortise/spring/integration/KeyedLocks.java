package io.mortise.spring.integration;

import io.mortise.JavaLock;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockName;
import io.mortise.LockOptions;
import io.mortise.function.CheckedFunction;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The holds of a process's threads through one registry. A view of a lock is made for each hold of
 * a thread, and kept until that thread has released its last hold. So locks of different keys are
 * never the same, only held locks are cached, and a hold can have times of its own. Thread-safe.
 */
final class KeyedLocks {
  private final LockClient client;
  private final String prefix;
  private final LockOptions options;
  private final ConcurrentMap<HoldKey, ThreadHold> holds = new ConcurrentHashMap<>();

  private record HoldKey(String name, Thread thread) {}

  /** Used by its thread alone. */
  private static final class ThreadHold {
    final JavaLock lock;

    /** The at-most time of the last restart; null if the hold has none. */
    @Nullable Duration atMost;

    ThreadHold(JavaLock lock, @Nullable Duration atMost) {
      this.lock = lock;
      this.atMost = atMost;
    }

    void restart(Duration time) {
      lock.lease().orElseThrow().extend(time);
      atMost = time;
    }
  }

  KeyedLocks(LockClient client, String prefix, LockOptions options) {
    this.client = Objects.requireNonNull(client, "client");
    this.prefix = Objects.requireNonNull(prefix, "prefix");
    this.options = Objects.requireNonNull(options, "options");
    if (!prefix.isEmpty()) {
      LockName.of(prefix);
    }
    if (prefix.getBytes(StandardCharsets.UTF_8).length > LockKey.LONGEST_PREFIX) {
      throw new IllegalArgumentException(
          "The prefix of a lock registry has at most "
              + LockKey.LONGEST_PREFIX
              + " bytes of UTF-8.");
    }
  }

  String name(Object key) {
    return LockKey.name(prefix, key);
  }

  void lock(String name, @Nullable Duration atMost) {
    boolean unused =
        this.<RuntimeException>take(
            name,
            atMost,
            lock -> {
              lock.lock();
              return true;
            });
  }

  void lockInterruptibly(String name) throws InterruptedException {
    boolean unused =
        this.<InterruptedException>take(
            name,
            null,
            lock -> {
              lock.lockInterruptibly();
              return true;
            });
  }

  boolean tryLock(String name) {
    return this.<RuntimeException>take(name, null, JavaLock::tryLock);
  }

  boolean tryLock(String name, long time, TimeUnit unit, @Nullable Duration atMost)
      throws InterruptedException {
    return this.<InterruptedException>take(name, atMost, lock -> lock.tryLock(time, unit));
  }

  /** A re-entry restarts a time that the hold has, and gives none to a hold without. */
  private <X extends Exception> boolean take(
      String name, @Nullable Duration atMost, CheckedFunction<JavaLock, Boolean, X> how) throws X {
    HoldKey key = new HoldKey(name, Thread.currentThread());
    ThreadHold hold = holds.get(key);
    if (hold != null) {
      if (atMost != null && hold.atMost != null) {
        hold.restart(atMost);
      }
      return how.apply(hold.lock);
    }
    Duration time = atMost == null ? options.terms().atMost() : atMost;
    JavaLock lock = client.lock(name, options.withAtMost(time)).asJavaLock();
    if (!how.apply(lock)) {
      return false;
    }
    holds.put(key, new ThreadHold(lock, time));
    return true;
  }

  void unlock(String name) {
    HoldKey key = new HoldKey(name, Thread.currentThread());
    ThreadHold hold = holds.get(key);
    if (hold == null) {
      throw new IllegalMonitorStateException(
          "This thread does not hold lock '" + LockName.of(name) + "'.");
    }
    try {
      hold.lock.unlock();
    } finally {
      // A lost lease ends the hold too, and unlock has thrown for it.
      if (!hold.lock.isHeldByCurrentThread()) {
        holds.remove(key);
      }
    }
  }

  /**
   * Restarts the at-most time of this thread's hold.
   *
   * @param atMost null for the one that it had, if any
   */
  void renew(String name, @Nullable Duration atMost) {
    ThreadHold hold = holds.get(new HoldKey(name, Thread.currentThread()));
    if (hold == null) {
      throw new IllegalStateException(
          "This thread does not hold lock '" + LockName.of(name) + "', so it cannot renew it.");
    }
    Duration time = atMost == null ? hold.atMost : atMost;
    if (time == null) {
      hold.lock.lease().orElseThrow().ensureValid();
    } else {
      hold.restart(time);
    }
  }

  Optional<Lease> lease(String name) {
    ThreadHold hold = holds.get(new HoldKey(name, Thread.currentThread()));
    return hold == null ? Optional.empty() : hold.lock.lease();
  }

  @Override
  public String toString() {
    return "[" + client + ", prefix='" + prefix + "', holds=" + holds.size() + "]";
  }
}
