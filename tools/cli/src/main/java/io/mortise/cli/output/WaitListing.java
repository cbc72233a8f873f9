package io.mortise.cli.output;

import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.console.view.LockFormatter;
import io.mortise.console.view.OutputSanitizer;
import io.mortise.console.view.WaitGraph;
import io.mortise.console.view.WaitGraph.Link;
import io.mortise.spi.time.DurationText;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Waits between processes, as trees. */
public final class WaitListing {
  private WaitListing() {}

  /**
   * The possible deadlocks, then a tree for each process that does not wait itself, of those that
   * wait for it.
   */
  public static List<String> lines(
      WaitGraph graph, List<LockInfo> locks, List<List<String>> cycles) {
    List<String> lines = new ArrayList<>();
    Set<String> told = new HashSet<>();
    for (List<String> cycle : cycles) {
      lines.add("possible deadlock:");
      told.addAll(cycle);
      for (String session : cycle) {
        for (Link wait : graph.waits(session)) {
          lines.add("  " + who(wait.party()) + " waits for " + lock(wait) + since(wait));
        }
        for (Link hold : graph.waitedHolds(session)) {
          lines.add("  " + who(hold.party()) + " holds " + lock(hold) + since(hold));
        }
      }
      cycle.forEach(session -> addWaiters(graph, session, 2, cycle, told, lines));
    }
    for (String root : graph.roots()) {
      if (told.add(root)) {
        lines.add(who(graph.waitedHolds(root).get(0).party()));
        addWaiters(graph, root, 1, List.of(), told, lines);
      }
    }
    for (LockInfo lock : locks) {
      if (lock.holders().isEmpty() && !lock.waiters().isEmpty()) {
        lines.add(
            "'"
                + OutputSanitizer.text(lock.name())
                + "', which nobody holds"
                + LockFormatter.situation(lock));
        graph.waiters(lock).forEach(wait -> addWaiter(graph, wait, 1, told, lines));
      }
    }
    return lines;
  }

  /** Adds the holds of a session, and below them the waiters not listed before. */
  private static void addWaiters(
      WaitGraph graph,
      String session,
      int depth,
      List<String> before,
      Set<String> told,
      List<String> lines) {
    for (Link hold : graph.waitedHolds(session)) {
      List<Link> others =
          graph.waiters(hold.lock()).stream()
              .filter(wait -> !before.contains(wait.session()))
              .toList();
      if (!others.isEmpty()) {
        lines.add("  ".repeat(depth) + "holds " + lock(hold) + since(hold));
        others.forEach(wait -> addWaiter(graph, wait, depth + 1, told, lines));
      }
    }
  }

  private static void addWaiter(
      WaitGraph graph, Link wait, int depth, Set<String> told, List<String> lines) {
    boolean isNew = told.add(wait.session());
    lines.add("  ".repeat(depth) + who(wait.party()) + " waits" + since(wait));
    if (isNew) {
      addWaiters(graph, wait.session(), depth + 1, List.of(), told, lines);
    }
  }

  private static String who(LockParticipant party) {
    return LockFormatter.client(party)
        + (party.label().isEmpty() ? "" : " (" + OutputSanitizer.text(party.label()) + ")");
  }

  private static String lock(Link link) {
    return "'" + OutputSanitizer.text(link.lock().name()) + "'";
  }

  private static String since(Link link) {
    return link.party().since().isZero()
        ? ""
        : ", for " + DurationText.format(link.party().since());
  }
}
