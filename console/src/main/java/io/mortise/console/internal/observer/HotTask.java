package io.mortise.console.internal.observer;

import io.mortise.admin.LockAdmin;
import io.mortise.admin.LockInfo;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Looks at the locks that matter, the one that was not looked at for longest first: before all
 * those that are open on a screen, then those of deadlocks.
 */
final class HotTask extends ObserverTask {
  /** The least time between two looks at the same lock. */
  static final long HOT = Duration.ofSeconds(2).toNanos();

  private static final long NOTHING = Duration.ofSeconds(1).toNanos();

  private final LockAdmin admin;
  private final SeenLocks seen;
  private final Viewers viewers;
  private final InstantSource clock;
  private final Runnable looked;
  private final Map<String, Long> lookedAt = new ConcurrentHashMap<>();
  private Set<String> inCycles = Set.of();

  HotTask(LockAdmin admin, SeenLocks seen, Viewers viewers, InstantSource clock, Runnable looked) {
    this.admin = admin;
    this.seen = seen;
    this.viewers = viewers;
    this.clock = clock;
    this.looked = looked;
  }

  /** The deadlocks are these by now. */
  void known(List<WaitCycle> cycles) {
    Set<String> locks = new HashSet<>();
    cycles.forEach(cycle -> locks.addAll(cycle.locks()));
    inCycles = locks;
  }

  @Override
  long dueIn(long now) {
    if (!viewers.isAnybodyThere()) {
      return NOTHING;
    }
    String next = next(now);
    return next == null ? NOTHING : lookedAt(next, now) + HOT - now;
  }

  private long lookedAt(String name, long now) {
    return lookedAt.getOrDefault(name, now - HOT);
  }

  private @Nullable String next(long now) {
    String oldest = null;
    for (Set<String> names : List.of(viewers.locks(), inCycles, seen.hot())) {
      for (String name : names) {
        if (oldest == null || lookedAt(name, now) < lookedAt(oldest, now)) {
          oldest = name;
        }
      }
      if (oldest != null && lookedAt(oldest, now) + HOT <= now) {
        return oldest;
      }
    }
    return oldest;
  }

  @Override
  void run(long now) {
    String name = Objects.requireNonNull(next(now));
    lookedAt.put(name, now);
    Set<String> open = viewers.locks();
    lookedAt
        .keySet()
        .removeIf(
            other ->
                !open.contains(other) && !inCycles.contains(other) && !seen.hot().contains(other));
    LockInfo info = admin.find(name).orElse(null);
    Instant at = clock.instant();
    SeenLock look = info == null ? SeenLock.free(name, at, now) : SeenLock.of(info, at, now);
    seen.apply(look, open.contains(name));
    looked.run();
  }

  @Override
  void restart() {
    lookedAt.clear();
  }
}
