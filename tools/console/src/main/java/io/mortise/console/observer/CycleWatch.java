package io.mortise.console.observer;

import io.mortise.admin.LockInfo;
import io.mortise.console.view.WaitGraph;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

/**
 * Persistent cycles of waits. Locks are inspected one after the other, so an apparent cycle may be
 * none; it counts if a later look shows the same waits, and they have lasted.
 */
final class CycleWatch {
  private static final Duration YOUNGEST = Duration.ofSeconds(3);

  private final Map<String, Seen> seen = new HashMap<>();

  /** The first sighting of a cycle of these locks, dated by the oldest look at them. */
  private record Seen(Set<String> locks, Instant oldestLook, Instant since) {}

  /** The locks of all cycles, including those that have not lasted yet, to be inspected. */
  synchronized Set<String> suspected() {
    Set<String> locks = new HashSet<>();
    seen.values().forEach(cycle -> locks.addAll(cycle.locks()));
    return locks;
  }

  /** The cycles among these that have lasted. */
  synchronized List<WaitCycle> among(Collection<SeenLock> waited, Instant now) {
    Map<String, SeenLock> byName = new HashMap<>();
    waited.forEach(lock -> byName.put(lock.name(), lock));
    List<LockInfo> infos = waited.stream().map(SeenLock::info).toList();
    WaitGraph graph = new WaitGraph(infos);
    Map<String, Seen> still = new HashMap<>();
    List<WaitCycle> found = new ArrayList<>();
    for (List<String> sessions : graph.cycles()) {
      TreeSet<String> attempts = new TreeSet<>();
      TreeSet<String> locks = new TreeSet<>();
      Instant since = Instant.MIN;
      Instant oldestLook = Instant.MAX;
      for (String session : sessions) {
        for (WaitGraph.Link wait : graph.waits(session)) {
          boolean inside =
              !WaitGraph.isOfBarrierParty(wait.lock().name())
                  && wait.lock().holders().stream()
                      .anyMatch(holder -> sessions.contains(graph.outermostSession(holder)));
          if (inside) {
            attempts.add(wait.party().attempt());
            locks.add(wait.lock().name());
            SeenLock look = Objects.requireNonNull(byName.get(wait.lock().name()));
            Instant began = look.at().minus(wait.party().since());
            since = began.isAfter(since) ? began : since;
            oldestLook = look.at().isBefore(oldestLook) ? look.at() : oldestLook;
          }
        }
      }
      String key = attempts.toString();
      Seen first = seen.getOrDefault(key, new Seen(locks, oldestLook, since));
      still.put(key, first);
      boolean again = oldestLook.isAfter(first.oldestLook());
      if (again && Duration.between(first.since(), now).compareTo(YOUNGEST) >= 0) {
        found.add(new WaitCycle(sessions, List.copyOf(locks), first.since()));
      }
    }
    seen.clear();
    seen.putAll(still);
    return found;
  }
}
