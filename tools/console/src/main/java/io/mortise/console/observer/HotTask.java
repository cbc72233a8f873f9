package io.mortise.console.observer;

import io.mortise.admin.LockAdmin;
import io.mortise.admin.LockInfo;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Inspects important locks, the least recently inspected first: those open on a screen, then those
 * of deadlocks, then those with an ended hold, whose record has the cause.
 */
final class HotTask extends ObserverTask {
  /** The least time between two looks at the same lock. */
  static final long HOT = Duration.ofSeconds(2).toNanos();

  /** The same for locks of cycles: the second look shows whether one lasts. */
  private static final long CYCLE = Duration.ofSeconds(1).toNanos();

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

  /** Sets the locks of present deadlocks and candidate cycles. */
  void suspect(Set<String> locks) {
    inCycles = locks;
  }

  @Override
  long dueIn(long now) {
    String next = next(now);
    return next == null ? NOTHING : dueAt(next, now) - now;
  }

  private long dueAt(String name, long now) {
    Long last = lookedAt.get(name);
    return last == null ? now : last + (inCycles.contains(name) ? CYCLE : HOT);
  }

  private @Nullable String next(long now) {
    String oldest = null;
    for (Set<String> names : names()) {
      for (String name : names) {
        if (oldest == null || dueAt(name, now) < dueAt(oldest, now)) {
          oldest = name;
        }
      }
      if (oldest != null && dueAt(oldest, now) <= now) {
        return oldest;
      }
    }
    return oldest;
  }

  /**
   * Returns the locks to inspect. Without viewers these are only locks with ended holds, as their
   * records lose the cause later.
   */
  private List<Set<String>> names() {
    return viewers.isAnybodyThere()
        ? List.of(viewers.locks(), inCycles, seen.hot(), seen.unexplained())
        : List.of(seen.unexplained());
  }

  @Override
  void run(long now) {
    String name = Objects.requireNonNull(next(now));
    lookedAt.put(name, now);
    Set<String> open = viewers.locks();
    List<Set<String>> names = names();
    lookedAt.keySet().removeIf(other -> names.stream().noneMatch(each -> each.contains(other)));
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
