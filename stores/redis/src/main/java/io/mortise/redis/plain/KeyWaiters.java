package io.mortise.redis.plain;

import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.time.Ticker;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The waiting attempts of a session, to notify when their key goes away. An attempt that was
 * refused twice counts as waiting. The end of a wait is never announced, so attempts that have not
 * retried for long are forgotten.
 */
final class KeyWaiters {
  /** Beyond this number, waiters only poll. */
  private static final int MOST = 1_000;

  private final KeyspaceListener listener;
  private final Ticker ticker;
  private final Consumer<SessionNotification> hints;
  private final Map<AttemptId, KeyWaiter> keyWaiters = new ConcurrentHashMap<>();
  private volatile boolean closed;

  private static final class KeyWaiter {
    final String key;
    final Runnable told;
    volatile long asked;
    private final ReentrantLock guard = new ReentrantLock();
    private boolean watched;
    private boolean over;

    KeyWaiter(String key, long asked, Runnable told) {
      this.key = key;
      this.asked = asked;
      this.told = told;
    }

    void watch(KeyspaceListener listener) {
      guard.lock();
      try {
        if (!watched && !over) {
          watched = true;
          listener.add(key, told);
        }
      } finally {
        guard.unlock();
      }
    }

    void end(KeyspaceListener listener) {
      guard.lock();
      try {
        over = true;
        if (watched) {
          watched = false;
          listener.remove(key, told);
        }
      } finally {
        guard.unlock();
      }
    }
  }

  KeyWaiters(KeyspaceListener listener, Ticker ticker, Consumer<SessionNotification> hints) {
    this.listener = listener;
    this.ticker = ticker;
    this.hints = hints;
  }

  void refused(AttemptId attempt, LockName name, String key) {
    if (!listener.isUseful() || closed) {
      return;
    }
    KeyWaiter keyWaiter = keyWaiters.get(attempt);
    if (keyWaiter != null) {
      keyWaiter.asked = ticker.nanos();
      keyWaiter.watch(listener);
    } else if (keyWaiters.size() < MOST) {
      SessionNotification sessionNotification = new SessionNotification.MayBeFree(name, attempt);
      keyWaiters.put(
          attempt, new KeyWaiter(key, ticker.nanos(), () -> hints.accept(sessionNotification)));
    }
  }

  void over(AttemptId attempt) {
    end(keyWaiters.remove(attempt));
  }

  private void end(@Nullable KeyWaiter keyWaiter) {
    if (keyWaiter != null) {
      keyWaiter.end(listener);
    }
  }

  void sweep(Duration ttl) {
    long oldest = ticker.nanos() - ttl.toNanos() - 1_000_000_000;
    keyWaiters.forEach(
        (attempt, keyWaiter) -> {
          if (keyWaiter.asked - oldest < 0) {
            over(attempt);
          }
        });
  }

  void close() {
    closed = true;
    keyWaiters.keySet().forEach(this::over);
  }
}
