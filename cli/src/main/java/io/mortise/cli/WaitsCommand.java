package io.mortise.cli;

import io.mortise.LockClient;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.cli.output.Pager;
import io.mortise.cli.view.LockSelection;
import io.mortise.cli.view.LockSelection.Order;
import io.mortise.console.internal.view.JsonWriter;
import io.mortise.console.internal.view.LockFormatter;
import io.mortise.console.internal.view.OutputSanitizer;
import io.mortise.console.internal.view.WaitGraph;
import io.mortise.console.internal.view.WaitGraph.Link;
import io.mortise.spi.time.DurationText;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code mortise waits}: which process waits for which. */
@Command(
    name = "waits",
    description = "Show who waits for whom, and who may wait for each other for ever.",
    footer = {
      "",
      "The processes at the left wait for nobody: look there first. A circle is a possible deadlock. It is none if"
          + " different threads of a process hold and wait, or if the locks changed hands while this looked: look again.",
      "",
      "Exit status: 0, or 1 if there is a possible deadlock."
    })
final class WaitsCommand implements Callable<Integer> {
  private final CliEnvironment cliEnvironment;

  @Mixin private StoreOptions store;

  @Option(names = "--json", description = "Write a JSON object.")
  private boolean json;

  WaitsCommand(CliEnvironment cliEnvironment) {
    this.cliEnvironment = cliEnvironment;
    this.store = new StoreOptions(cliEnvironment);
  }

  @Override
  public Integer call() {
    List<LockInfo> locks;
    try (LockClient client = store.look()) {
      locks =
          new LockSelection("", Set.of(), Order.TROUBLE, Integer.MAX_VALUE)
              .from(client.admin())
              .locks();
    }
    WaitGraph graph = new WaitGraph(locks);
    List<List<String>> cycles = graph.cycles();
    if (json) {
      cliEnvironment.out().println(JsonWriter.write(json(graph, locks, cycles)));
    } else {
      List<String> lines = text(graph, locks, cycles);
      Pager.print(cliEnvironment.out(), cliEnvironment.variables(), lines);
      if (lines.isEmpty() && !store.quiet) {
        cliEnvironment.err().println("mortise: nobody waits" + store.place() + ".");
      }
    }
    return cycles.isEmpty() ? ExitStatus.OK : ExitStatus.FAILED;
  }

  private static List<String> text(
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

  /** What a session holds, and below it the waiters for it but those that were told of before. */
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

  private static Map<String, Object> json(
      WaitGraph graph, List<LockInfo> locks, List<List<String>> cycles) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put(
        "waits",
        locks.stream().filter(lock -> !lock.waiters().isEmpty()).map(LockFormatter::json).toList());
    object.put(
        "possibleDeadlocks",
        cycles.stream()
            .map(
                cycle ->
                    cycle.stream()
                        .flatMap(session -> graph.waits(session).stream())
                        .map(WaitsCommand::json)
                        .toList())
            .toList());
    return object;
  }

  private static Map<String, Object> json(Link wait) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("waiter", LockFormatter.client(wait.party()));
    object.put("attempt", wait.party().attempt());
    object.put("lock", wait.lock().name());
    object.put("sinceMillis", wait.party().since().toMillis());
    return object;
  }
}
