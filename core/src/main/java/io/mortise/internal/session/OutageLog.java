package io.mortise.internal.session;

import io.mortise.LockName;
import io.mortise.internal.runtime.FailureText;
import io.mortise.spi.time.DurationText;
import io.mortise.spi.time.Ticker;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Logs why waits make no progress, once per episode, and the end of the episode: a caller that
 * waits without limit gets no other sign of a store that is full, refuses or is unreachable.
 * Thread-safe.
 */
public final class OutageLog {
  /** A shorter time is not worth a line. */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** After this time without a request no caller waits: the next failure starts a new episode. */
  private static final long IDLE_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final ReentrantLock guard = new ReentrantLock();
  private final String store;
  private final Ticker ticker;
  private final Consumer<String> warn;
  private final Consumer<String> info;

  /** Read without the lock, as every answer checks it; null while requests are served. */
  private volatile @Nullable Episode episode;

  private static final class Episode {
    final long since;
    long latest;
    boolean told;

    Episode(long since) {
      this.since = since;
      this.latest = since;
    }
  }

  /** A log without an episode. */
  public OutageLog(String store, Ticker ticker, Consumer<String> warn, Consumer<String> info) {
    this.store = store;
    this.ticker = ticker;
    this.warn = warn;
    this.info = info;
  }

  /** Records that a request about a lock was not served. */
  public void failed(LockName lock, Throwable cause) {
    String line = null;
    guard.lock();
    try {
      Episode present = episode;
      long now = ticker.nanos();
      if (present == null || (!present.told && now - present.latest > IDLE_NANOS)) {
        episode = new Episode(now);
        return;
      }
      present.latest = now;
      if (!present.told && now - present.since >= PATIENCE_NANOS) {
        present.told = true;
        line =
            "Waits make no progress for %s (lock=%s, store=%s): %s"
                .formatted(text(now - present.since), lock, store, FailureText.said(cause));
      }
    } finally {
      guard.unlock();
    }
    if (line != null) {
      warn.accept(line);
    }
  }

  /** Records that a request was served. */
  public void served() {
    if (episode != null) {
      over();
    }
  }

  private void over() {
    Episode ended;
    guard.lock();
    try {
      ended = episode;
      episode = null;
    } finally {
      guard.unlock();
    }
    if (ended != null && ended.told) {
      info.accept(
          "Waits go on after %s (store=%s).".formatted(text(ticker.nanos() - ended.since), store));
    }
  }

  private static String text(long nanos) {
    return DurationText.format(Duration.ofNanos(nanos));
  }
}
