package io.mortise.cli.top;

import io.mortise.admin.LockInfo;
import io.mortise.console.observer.ObservedEvent;
import io.mortise.console.observer.Observer;
import io.mortise.console.observer.Outages.Outage;
import io.mortise.console.observer.SeenLock;
import io.mortise.console.observer.Trouble;
import io.mortise.console.observer.WaitCycle;
import io.mortise.console.view.LockFormatter;
import io.mortise.console.view.LockFormatter.Condition;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The data to show at one moment.
 *
 * @param surveyed whether all locks have been inspected once
 * @param rows the first of the selected locks, in order
 * @param chosen the number of selected locks
 * @param locks counts of held, awaited, gone and shut locks, in words
 * @param used the share of the store's time that observation took
 * @param deadlocks processes that wait for each other, a line each
 * @param waited locks with waiters
 * @param usual the usual duration of a hold of locks like the open one; null if unknown
 * @param events of the open lock, the newest first
 */
record TopSnapshot(
    Instant now,
    boolean surveyed,
    @Nullable Outage outage,
    List<TopRow> rows,
    int chosen,
    String locks,
    double used,
    List<String> deadlocks,
    List<LockInfo> waited,
    @Nullable Duration usual,
    List<ObservedEvent> events) {

  /** No screen shows more, and no user pages that far. */
  private static final int MOST = 1000;

  private static final int EVENTS = 10;

  /** The selection to show. */
  record Query(String filter, TopRow.TopOrder order, @Nullable String open) {}

  static TopSnapshot of(Observer observer, Query query) {
    Instant now = observer.now();
    Trouble.Finder finder = new Trouble.Finder(observer);
    List<TopRow> chosen = new ArrayList<>();
    int held = 0;
    int waited = 0;
    int gone = 0;
    int shut = 0;
    for (SeenLock lock : observer.locks()) {
      TopRow row = TopRow.of(lock, finder, observer, now);
      held += row.condition() == Condition.HELD ? 1 : 0;
      gone += row.condition() == Condition.GONE ? 1 : 0;
      shut += row.condition() == Condition.SHUT ? 1 : 0;
      waited += lock.isWaited() ? 1 : 0;
      if (row.matches(query.filter())) {
        chosen.add(row);
      }
    }
    String counts =
        held
            + " held, "
            + waited
            + " waited for"
            + (gone == 0 ? "" : ", " + gone + " gone")
            + (shut == 0 ? "" : ", " + shut + " shut");
    String open = query.open();
    return new TopSnapshot(
        now,
        observer.survey().asOf() != null,
        observer.outage(),
        chosen.stream().sorted(query.order().comparator()).limit(MOST).toList(),
        chosen.size(),
        counts,
        observer.cost().share(),
        observer.cycles().stream().map(cycle -> told(observer, cycle)).toList(),
        observer.waited().stream().map(SeenLock::info).toList(),
        open == null ? null : observer.usual(open),
        open == null
            ? List.of()
            : observer.events().latest(event -> open.equals(event.lock()), EVENTS));
  }

  private static String told(Observer observer, WaitCycle cycle) {
    return cycle.sessions().stream()
        .map(observer::session)
        .map(session -> session == null ? null : session.client())
        .map(client -> client == null ? "a process" : LockFormatter.client(client))
        .collect(Collectors.joining(", "));
  }
}
