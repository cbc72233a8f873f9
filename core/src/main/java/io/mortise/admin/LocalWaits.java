package io.mortise.admin;

import io.mortise.admin.LocalWait.LocalCaller;
import io.mortise.annotation.Beta;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A snapshot of the waits inside one client: the store sees one attempt for all threads of a
 * process.
 *
 * @param waits at most 1000
 */
@Beta
public record LocalWaits(List<LocalWait> waits) {
  /** Copies the list. */
  public LocalWaits {
    waits = List.copyOf(waits);
  }

  /**
   * Threads that wait for each other, or for themselves: each list is a cycle, in which a holder of
   * each wait is the waiter of the next. It is no deadlock if a thread has passed its lease to
   * another, will end its wait in time, or waits for permits that others release. Asynchronous
   * acquires are never in a cycle, as no thread stands for them.
   */
  public List<List<LocalWait>> possibleDeadlocks() {
    Map<Long, LocalWait> byThread = new HashMap<>();
    waits.stream()
        .filter(wait -> wait.waiter().isThread())
        .forEach(wait -> byThread.put(wait.waiter().threadId(), wait));
    List<List<LocalWait>> cycles = new ArrayList<>();
    Set<Long> searched = new HashSet<>();
    for (LocalWait wait : byThread.values()) {
      if (!searched.contains(wait.waiter().threadId())) {
        search(wait, byThread, new ArrayList<>(), searched, cycles);
      }
    }
    return cycles;
  }

  private static void search(
      LocalWait wait,
      Map<Long, LocalWait> byThread,
      List<LocalWait> path,
      Set<Long> searched,
      List<List<LocalWait>> cycles) {
    path.add(wait);
    searched.add(wait.waiter().threadId());
    for (LocalCaller holder : wait.holders()) {
      LocalWait next = byThread.get(holder.threadId());
      int begin = next == null ? -1 : path.indexOf(next);
      if (begin >= 0) {
        cycles.add(List.copyOf(path.subList(begin, path.size())));
      } else if (next != null && !searched.contains(holder.threadId())) {
        search(next, byThread, path, searched, cycles);
      }
    }
    path.remove(path.size() - 1);
  }
}
