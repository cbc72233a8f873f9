package io.mortise.console.observer;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The usual durations of holds in groups of locks, whose names agree up to their last slash.
 * Thread-safe.
 */
final class UsualHold {
  private static final int KEPT = 50;
  private static final int ENOUGH = 10;
  private static final int GROUPS = 10_000;
  private static final int FACTOR = 3;
  private static final Duration NEVER_LONG = Duration.ofSeconds(10);

  private final Map<String, Duration> medians = new ConcurrentHashMap<>();

  private final Map<String, Deque<Duration>> groups =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Deque<Duration>> eldest) {
          if (size() > GROUPS) {
            medians.remove(eldest.getKey());
            return true;
          }
          return false;
        }
      };

  synchronized void add(String name, Duration held) {
    Deque<Duration> last = groups.computeIfAbsent(SeenLock.group(name), key -> new ArrayDeque<>());
    last.add(held);
    if (last.size() > KEPT) {
      last.remove();
    }
    if (last.size() >= ENOUGH) {
      last.stream()
          .sorted()
          .skip(last.size() / 2)
          .findFirst()
          .ifPresent(median -> medians.put(SeenLock.group(name), median));
    }
  }

  /** The median; null before there are enough holds. */
  @Nullable Duration of(String name) {
    return medians.isEmpty() ? null : medians.get(SeenLock.group(name));
  }

  boolean isLong(SeenLock lock) {
    Duration held = lock.heldFor();
    if (held.compareTo(NEVER_LONG) <= 0) {
      return false;
    }
    Duration usual = of(lock.name());
    return usual != null && held.compareTo(usual.multipliedBy(FACTOR)) > 0;
  }
}
