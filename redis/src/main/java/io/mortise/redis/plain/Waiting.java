package io.mortise.redis.plain;

import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.News;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Which attempts of a session wait, so that they can be told when their key goes away. One that was
 * refused twice waits; when it has stopped to is never said, so those that have not asked for long
 * are forgotten.
 */
final class Waiting {
  /** Beyond, waits go by asking again alone. */
  private static final int MOST = 1_000;

  private final KeyWatch watch;
  private final Consumer<News> hints;
  private final Map<AttemptId, Waiter> waiters = new ConcurrentHashMap<>();
  private volatile boolean closed;

  private static final class Waiter {
    final String key;
    final Runnable told;
    volatile long asked = System.nanoTime();
    private final ReentrantLock guard = new ReentrantLock();
    private boolean watched;
    private boolean over;

    Waiter(String key, Runnable told) {
      this.key = key;
      this.told = told;
    }

    void watch(KeyWatch watch) {
      guard.lock();
      try {
        if (!watched && !over) {
          watched = true;
          watch.add(key, told);
        }
      } finally {
        guard.unlock();
      }
    }

    void end(KeyWatch watch) {
      guard.lock();
      try {
        over = true;
        if (watched) {
          watched = false;
          watch.remove(key, told);
        }
      } finally {
        guard.unlock();
      }
    }
  }

  Waiting(KeyWatch watch, Consumer<News> hints) {
    this.watch = watch;
    this.hints = hints;
  }

  void refused(AttemptId attempt, LockName name, String key) {
    if (!watch.isUseful() || closed) {
      return;
    }
    Waiter waiter = waiters.get(attempt);
    if (waiter != null) {
      waiter.asked = System.nanoTime();
      waiter.watch(watch);
    } else if (waiters.size() < MOST) {
      News news = new News.MayBeFree(name, attempt);
      waiters.put(attempt, new Waiter(key, () -> hints.accept(news)));
    }
  }

  void over(AttemptId attempt) {
    end(waiters.remove(attempt));
  }

  private void end(@Nullable Waiter waiter) {
    if (waiter != null) {
      waiter.end(watch);
    }
  }

  void sweep(Duration ttl) {
    long oldest = System.nanoTime() - ttl.toNanos() - 1_000_000_000;
    waiters.forEach(
        (attempt, waiter) -> {
          if (waiter.asked - oldest < 0) {
            over(attempt);
          }
        });
  }

  void close() {
    closed = true;
    waiters.keySet().forEach(this::over);
  }
}
