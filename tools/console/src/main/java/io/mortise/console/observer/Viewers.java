package io.mortise.console.observer;

import io.mortise.spi.time.Ticker;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Viewers of pages, and the locks open on them. Thread-safe. */
final class Viewers {
  private static final long VIEWER_STAYS = Duration.ofSeconds(20).toNanos();
  private static final long SCREEN_STAYS = Duration.ofSeconds(10).toNanos();
  private static final int SCREENS = 1000;

  private final Ticker ticker;
  private final Map<String, Long> onScreen = new ConcurrentHashMap<>();
  private volatile long seenAt;

  Viewers(Ticker ticker) {
    this.ticker = ticker;
    this.seenAt = ticker.nanos() - VIEWER_STAYS;
  }

  boolean isAnybodyThere() {
    return ticker.nanos() - seenAt < VIEWER_STAYS;
  }

  /** Records a viewer; returns whether it is the first. */
  boolean came() {
    boolean alone = !isAnybodyThere();
    seenAt = ticker.nanos();
    return alone;
  }

  void open(String lock) {
    if (onScreen.size() < SCREENS) {
      onScreen.put(lock, ticker.nanos());
    }
  }

  /** Locks open on a screen now or a moment ago. */
  Set<String> locks() {
    long now = ticker.nanos();
    onScreen.values().removeIf(since -> now - since > SCREEN_STAYS);
    return onScreen.keySet();
  }
}
