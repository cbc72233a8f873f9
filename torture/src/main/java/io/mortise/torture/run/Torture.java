package io.mortise.torture.run;

import io.mortise.LockClient;
import io.mortise.admin.LockInfo;
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
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * One run: starts clients in processes of their own, lets faults happen to them and to the server,
 * and checks what they saw. For one thread.
 */
public final class Torture {
  /** What a client needs, in megabytes. */
  private static final int HEAP = 128;

  /** What one needs that only waits. */
  private static final int SMALL_HEAP = 64;

  /** One holds, one is killed, one lives on and wants the lock. */
  private static final int WAITERS = 3;

  private final Plan plan;
  private final Arena arena;
  private final Path folder;
  private final Consumer<String> tell;
  private final List<ContenderProcess> clients = new ArrayList<>();

  /** Those that stand in queues and hold nothing else. */
  private final List<ContenderProcess> waiters = new ArrayList<>();

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
    Promises promises = Promises.of(arena.url(), plan.faults());
    tell.accept(
        promises.mode().isEmpty()
            ? "the guarantee table has no row for this store: nothing may break"
            : "row of the guarantee table: " + promises.mode());
    int faults;
    try (Resource resource = new Resource();
        HistoryFile history = new HistoryFile(folder.resolve("run.log"));
        StallWatch stalls = new StallWatch(history, 0, plan.ttl().dividedBy(20))) {
      stalls.begin();
      try {
        for (int i = 0; i < plan.processes(); i++) {
          clients.add(start(resource, ContenderMain.CONTENDER));
        }
        for (int i = 0; plan.hasWaiters() && i < WAITERS; i++) {
          waiters.add(start(resource, ContenderMain.WAITER));
        }
        Nemesis nemesis =
            new Nemesis(
                plan,
                arena,
                resource,
                clients,
                waiters,
                dead -> replace(dead, resource),
                history,
                tell);
        nemesis.rage(System.nanoTime() + plan.time().toNanos());
        faults = nemesis.faultsDone();
        tell.accept("all faults are over");
        Thread.sleep(plan.ttl().multipliedBy(2).toMillis());
        List<ContenderProcess> all = new ArrayList<>(clients);
        all.addAll(waiters);
        all.forEach(ContenderProcess::tellToFinish);
        all.forEach(ContenderProcess::awaitFinish);
      } finally {
        clients.forEach(ContenderProcess::close);
        waiters.forEach(ContenderProcess::close);
      }
      resource
          .values()
          .forEach(
              (lock, value) ->
                  history.add(new Event(System.nanoTime(), Kind.FINAL, 0, lock, 0, value, 0)));
      lookForLeaks(history);
    }
    tell.accept("checking what they saw");
    return result(promises, began, faults);
  }

  private ContenderProcess start(Resource resource, String role) {
    int number = ++started;
    List<Relay> relays = arena.relays();
    Map<String, String> settings = new HashMap<>();
    settings.put("url", arena.url(relays));
    settings.put("process", Integer.toString(number));
    settings.put("role", role);
    settings.put("threads", Integer.toString(plan.threads()));
    settings.put("resource", Integer.toString(resource.port()));
    settings.put("ttl", Long.toString(plan.ttl().toMillis()));
    settings.put("hot", Integer.toString(plan.hot()));
    settings.put("seed", Long.toString(plan.seed() * 1_000 + number));
    settings.put("history", folder.resolve("client-" + number + ".log").toString());
    settings.put("bulk", Integer.toString(plan.bulk()));
    if (role.equals(ContenderMain.WAITER)) {
      return new ContenderProcess(number, relays, settings, SMALL_HEAP, folder);
    }
    int heap =
        HEAP
            + (plan.faults().contains(Fault.FULL_GC)
                ? Ballast.megabytes(plan.overlong().toMillis())
                : 0);
    return new ContenderProcess(number, relays, settings, heap, folder);
  }

  private void replace(ContenderProcess dead, Resource resource) {
    dead.close();
    if (waiters.contains(dead)) {
      waiters.set(waiters.indexOf(dead), start(resource, ContenderMain.WAITER));
    } else {
      clients.set(clients.indexOf(dead), start(resource, ContenderMain.CONTENDER));
    }
  }

  /** Who holds or waits when everybody has given up, and is not dead. */
  private void lookForLeaks(HistoryFile history) {
    try (LockClient locks =
        LockClient.builder().url(arena.url()).ttl(plan.ttl()).name("torture").build()) {
      List<String> wanted = new ArrayList<>(List.of(Checker.OPEN + 0, Checker.FAIR + 0));
      for (int i = 0; i < plan.hot(); i++) {
        wanted.add(Contender.HOT + i);
      }
      if (plan.hasWaiters()) {
        wanted.add(Checker.QUEUE + 0);
      }
      for (String lock : wanted) {
        LockInfo view = locks.admin().find(lock).orElse(null);
        int count = view == null ? 0 : view.holders().size() + view.waiters().size();
        if (count > 0) {
          history.add(new Event(System.nanoTime(), Kind.LEFT, 0, lock, 0, 0, count));
        }
      }
    }
  }

  private Result result(Promises promises, long began, int faults) throws IOException {
    long ended = System.nanoTime();
    Checker checker = new Checker(plan.ttl(), plan.patience(), promises.effects());
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
        arena.name(), promises, plan, faults, Duration.ofNanos(ended - began), verdict, timeline);
  }

  /**
   * What came out.
   *
   * @param store name of the store
   * @param promises that were to be kept
   * @param faults how many there were
   * @param took from start to end
   */
  public record Result(
      String store,
      Promises promises,
      Plan plan,
      int faults,
      Duration took,
      Verdict verdict,
      Timeline timeline) {
    /** How it ended. */
    public Outcome outcome() {
      if (!verdict.isClean()) {
        return Outcome.BROKEN;
      }
      boolean loud =
          verdict.controlsAreLoud()
              && (!plan.faults().contains(Fault.KILL_WAITER) || verdict.naiveDelays() > 0);
      return loud ? Outcome.KEPT : Outcome.VOID;
    }

    /** Holds that the store gave. */
    public long remote() {
      return verdict.count(Kind.HOLDS) + verdict.figures().cycles().getOrDefault(Bulk.REMOTE, 0L);
    }

    /** Holds that went from thread to thread of a process, without the store. */
    public long local() {
      return verdict.figures().cycles().getOrDefault(Bulk.LOCAL, 0L);
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
