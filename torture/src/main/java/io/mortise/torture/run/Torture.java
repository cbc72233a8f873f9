package io.mortise.torture.run;

import io.mortise.LockClient;
import io.mortise.spi.LockView;
import io.mortise.testkit.server.Relay;
import io.mortise.torture.history.Checker;
import io.mortise.torture.history.Event;
import io.mortise.torture.history.HistoryFile;
import io.mortise.torture.history.Kind;
import io.mortise.torture.history.Timeline;
import io.mortise.torture.history.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * One run: starts clients in processes of their own, lets faults happen to them and to the server,
 * and checks what they saw. For one thread.
 */
public final class Torture {
  private final Plan plan;
  private final Arena arena;
  private final Path folder;
  private final Consumer<String> tell;
  private final List<ContenderProcess> clients = new ArrayList<>();
  private int started;

  /**
   * A run.
   *
   * @param arena the store; not closed
   * @param folder for the histories; exists
   * @param tell hears what happens, a line each
   */
  public Torture(Plan plan, Arena arena, Path folder, Consumer<String> tell) {
    this.plan = plan;
    this.arena = arena;
    this.folder = folder;
    this.tell = tell;
  }

  /**
   * Runs. Blocks for the plan's time and some seconds more. Leaves no process behind.
   *
   * @throws IOException if the histories cannot be written
   * @throws IllegalStateException if a client process ended by itself
   */
  public Result run() throws IOException, InterruptedException {
    long began = System.nanoTime();
    int faults;
    try (Resource resource = new Resource();
        HistoryFile history = new HistoryFile(folder.resolve("run.log"))) {
      try {
        for (int i = 0; i < plan.processes(); i++) {
          clients.add(start(resource));
        }
        Nemesis nemesis =
            new Nemesis(
                plan, arena, resource, clients, dead -> replace(dead, resource), history, tell);
        nemesis.rage(System.nanoTime() + plan.time().toNanos());
        faults = nemesis.faultsDone();
        tell.accept("all faults are over");
        Thread.sleep(plan.ttl().multipliedBy(2).toMillis());
        clients.forEach(ContenderProcess::tellToFinish);
        clients.forEach(ContenderProcess::awaitFinish);
      } finally {
        clients.forEach(ContenderProcess::close);
      }
      resource
          .values()
          .forEach(
              (lock, value) ->
                  history.add(new Event(System.nanoTime(), Kind.FINAL, 0, lock, 0, value, 0)));
      lookForLeaks(history);
    }
    tell.accept("checking what they saw");
    return result(began, faults);
  }

  private ContenderProcess start(Resource resource) {
    int number = ++started;
    Relay relay = arena.relay().orElse(null);
    Map<String, String> settings = new HashMap<>();
    settings.put("url", relay == null ? arena.url() : arena.url(relay));
    settings.put("process", Integer.toString(number));
    settings.put("threads", Integer.toString(plan.threads()));
    settings.put("resource", Integer.toString(resource.port()));
    settings.put("ttl", Long.toString(plan.ttl().toMillis()));
    settings.put("hot", Integer.toString(plan.hot()));
    settings.put("seed", Long.toString(plan.seed() * 1_000 + number));
    settings.put("history", folder.resolve("client-" + number + ".log").toString());
    return new ContenderProcess(number, relay, settings, folder.resolve("clients.err"));
  }

  private void replace(ContenderProcess dead, Resource resource) {
    dead.close();
    clients.set(clients.indexOf(dead), start(resource));
  }

  /** Who holds or waits when everybody has given up, and is not dead. */
  private void lookForLeaks(HistoryFile history) {
    try (LockClient locks =
        LockClient.builder().url(arena.url()).ttl(plan.ttl()).name("torture").build()) {
      List<String> wanted = new ArrayList<>(List.of(Checker.OPEN + 0));
      for (int i = 0; i < plan.hot(); i++) {
        wanted.add(Contender.HOT + i);
      }
      for (String lock : wanted) {
        LockView view = locks.inspect(lock).orElse(null);
        int count = view == null ? 0 : view.holders().size() + view.waiters().size();
        if (count > 0) {
          history.add(new Event(System.nanoTime(), Kind.LEFT, 0, lock, 0, 0, count));
        }
      }
    }
  }

  private Result result(long began, int faults) throws IOException {
    long ended = System.nanoTime();
    Checker checker = new Checker(plan.ttl(), plan.patience(), Set.of(Fault.FORGET.label()));
    Timeline timeline = new Timeline(began, ended);
    List<Path> files;
    try (Stream<Path> all = Files.list(folder)) {
      files = all.filter(file -> file.toString().endsWith(".log")).sorted().toList();
    }
    HistoryFile.read(
        files,
        event -> {
          checker.take(event);
          timeline.take(event);
        });
    Verdict verdict = checker.check();
    verdict.findings().forEach(timeline::mark);
    return new Result(
        arena.name(), plan, faults, Duration.ofNanos(ended - began), verdict, timeline);
  }

  /**
   * What came out.
   *
   * @param store name of the store
   * @param faults how many there were
   * @param took from start to end
   */
  public record Result(
      String store, Plan plan, int faults, Duration took, Verdict verdict, Timeline timeline) {
    /** How it ended. */
    public Outcome outcome() {
      if (!verdict.isClean()) {
        return Outcome.BROKEN;
      }
      return verdict.controlsAreLoud() ? Outcome.KEPT : Outcome.VOID;
    }
  }

  /** How a run can end. */
  public enum Outcome {
    /** Every promise was kept, and what had to break broke. */
    KEPT,
    /** A promise was broken. */
    BROKEN,
    /** What had to break did not: the run says nothing. */
    VOID
  }
}
