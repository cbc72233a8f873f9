package io.mortise.cli;

import io.mortise.LockClient;
import io.mortise.admin.LockInfo;
import io.mortise.cli.output.Pager;
import io.mortise.cli.output.WaitListing;
import io.mortise.cli.view.LockSelection;
import io.mortise.cli.view.LockSelection.SortOrder;
import io.mortise.console.view.JsonWriter;
import io.mortise.console.view.LockFormatter;
import io.mortise.console.view.WaitGraph;
import io.mortise.console.view.WaitGraph.Link;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code mortise waits}: waits between processes. */
@Command(
    name = "waits",
    description = "Show who waits for whom, and who may wait for each other for ever.",
    footer = {
      "",
      "The processes at the left wait for nobody: look there first. A cycle is a possible deadlock. It is none if"
          + " different threads of a process hold and wait, or if the locks changed hands while this looked: look again.",
      "",
      "A store sees one wait for all threads of a process. Waits inside one process are not seen from here: ask its"
          + " actuator endpoint 'locks', LockAdmin.localWaits(), or a thread dump.",
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
          new LockSelection("", Set.of(), SortOrder.TROUBLE, Integer.MAX_VALUE)
              .from(client.admin())
              .locks();
    }
    WaitGraph graph = new WaitGraph(locks);
    List<List<String>> cycles = graph.cycles();
    if (json) {
      cliEnvironment.out().println(JsonWriter.write(json(graph, locks, cycles)));
    } else {
      List<String> lines = WaitListing.lines(graph, locks, cycles);
      Pager.print(cliEnvironment.out(), cliEnvironment.variables(), lines);
      if (lines.isEmpty() && !store.quiet) {
        cliEnvironment
            .err()
            .println(
                "mortise: no process waits for another"
                    + store.place()
                    + ". Waits inside one process are not seen from here: ask its actuator endpoint or a"
                    + " thread dump.");
      }
    }
    return cycles.isEmpty() ? ExitStatus.OK : ExitStatus.FAILED;
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

  private static Map<String, @Nullable Object> json(Link wait) {
    Map<String, @Nullable Object> object = new LinkedHashMap<>();
    object.put("waiter", LockFormatter.client(wait.party()));
    object.put("attempt", LockFormatter.attempt(wait.party().attempt()));
    object.put("lock", wait.lock().name());
    object.put("sinceMillis", LockFormatter.jsonAge(wait.party().since()));
    return object;
  }
}
