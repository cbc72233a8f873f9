package io.mortise.console.internal.api;

import io.mortise.admin.LockInfo;
import io.mortise.console.observer.Observer;
import io.mortise.console.observer.SeenLock;
import io.mortise.console.observer.WaitCycle;
import io.mortise.console.view.LockFormatter;
import io.mortise.console.view.WaitGraph;
import io.mortise.console.view.WaitGraph.Link;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Waits between processes: as a graph, and as trees whose roots do not wait. */
final class WaitsReport {
  /** The most edges on a page. */
  private static final int EDGES = 2000;

  private final Observer observer;
  private final List<LockInfo> locks;
  private final WaitGraph graph;
  private final @Nullable Instant asOf;
  private final Set<String> nodes = new LinkedHashSet<>();
  private final Set<String> told = new HashSet<>();

  private WaitsReport(Observer observer) {
    this.observer = observer;
    List<SeenLock> waited = observer.waited();
    this.locks = waited.stream().map(SeenLock::info).toList();
    this.graph = new WaitGraph(locks);
    this.asOf =
        waited.stream().map(SeenLock::at).min(Instant::compareTo).orElse(observer.survey().asOf());
  }

  static Map<String, @Nullable Object> json(Observer observer) {
    return new WaitsReport(observer).json();
  }

  private Map<String, @Nullable Object> json() {
    List<Map<String, @Nullable Object>> edges = edges();
    List<Map<String, @Nullable Object>> trees = new ArrayList<>();
    for (List<String> cycle : graph.cycles()) {
      told.addAll(cycle);
      cycle.forEach(session -> trees.add(tree(session, new HashSet<>(cycle))));
    }
    for (String root : graph.roots()) {
      if (told.add(root)) {
        trees.add(tree(root, Set.of()));
      }
    }
    List<Map<String, @Nullable Object>> unheld = unheld();
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("asOfAt", JsonParts.at(asOf));
    json.put("nodes", nodes.stream().map(node -> StatusReport.node(observer, node)).toList());
    json.put("edges", edges);
    json.put("cycles", observer.cycles().stream().map(WaitsReport::json).toList());
    json.put("trees", trees);
    json.put("unheld", unheld);
    return json;
  }

  private List<Map<String, @Nullable Object>> edges() {
    List<Map<String, @Nullable Object>> edges = new ArrayList<>();
    for (LockInfo lock : locks) {
      for (Link wait : graph.waiters(lock)) {
        lock.holders().stream()
            .map(graph::outermostSession)
            .distinct()
            .filter(holder -> !holder.equals(wait.session()) && edges.size() < EDGES)
            .forEach(
                holder -> {
                  Map<String, @Nullable Object> edge = new LinkedHashMap<>();
                  edge.put("from", wait.session());
                  edge.put("to", holder);
                  edge.put("lock", lock.name());
                  edge.put("attempt", LockFormatter.attempt(wait.party().attempt()));
                  edge.put("sinceMillis", LockFormatter.jsonAge(wait.party().since()));
                  edges.add(edge);
                  nodes.add(wait.session());
                  nodes.add(holder);
                });
      }
    }
    return edges;
  }

  private static Map<String, @Nullable Object> json(WaitCycle cycle) {
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("sessions", cycle.sessions());
    json.put("locks", cycle.locks());
    json.put("sinceAt", JsonParts.at(cycle.since()));
    return json;
  }

  private Map<String, @Nullable Object> tree(String session, Set<String> inCycle) {
    nodes.add(session);
    List<Link> holds = graph.waitedHolds(session);
    Map<String, @Nullable Object> tree = new LinkedHashMap<>();
    tree.put("session", session);
    tree.put("label", holds.isEmpty() ? "" : holds.get(0).party().label());
    tree.put("holds", holds(session, inCycle, 0));
    return tree;
  }

  private List<Map<String, @Nullable Object>> holds(
      String session, Set<String> inCycle, int depth) {
    List<Map<String, @Nullable Object>> holds = new ArrayList<>();
    for (Link hold : graph.waitedHolds(session)) {
      Map<String, @Nullable Object> json = new LinkedHashMap<>();
      json.put("lock", hold.lock().name());
      json.put("sinceMillis", LockFormatter.jsonAge(hold.party().since()));
      json.put(
          "waiters",
          graph.waiters(hold.lock()).stream().map(wait -> waiter(wait, inCycle, depth)).toList());
      holds.add(json);
    }
    return holds;
  }

  /** Describes a waiter; a session already listed in full, or deep in the tree, is only named. */
  private Map<String, @Nullable Object> waiter(Link wait, Set<String> inCycle, int depth) {
    boolean again = inCycle.contains(wait.session()) || !told.add(wait.session()) || depth > 50;
    nodes.add(wait.session());
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("session", wait.session());
    json.put("attempt", LockFormatter.attempt(wait.party().attempt()));
    json.put("label", wait.party().label());
    json.put("sinceMillis", LockFormatter.jsonAge(wait.party().since()));
    json.put("again", again);
    json.put("holds", again ? List.of() : holds(wait.session(), inCycle, depth + 1));
    return json;
  }

  private List<Map<String, @Nullable Object>> unheld() {
    List<Map<String, @Nullable Object>> unheld = new ArrayList<>();
    for (LockInfo lock : locks) {
      if (lock.holders().isEmpty()) {
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("lock", lock.name());
        json.put("state", LockFormatter.condition(lock).toString());
        json.put("shutForMillis", lock.shutFor().toMillis());
        json.put(
            "waiters",
            graph.waiters(lock).stream().map(wait -> waiter(wait, Set.of(), 0)).toList());
        unheld.add(json);
      }
    }
    return unheld;
  }
}
