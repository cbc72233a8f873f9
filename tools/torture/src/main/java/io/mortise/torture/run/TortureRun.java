package io.mortise.torture.run;

import io.mortise.LockClient;
import io.mortise.admin.LockInfo;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.torture.history.CheckResult;
import io.mortise.torture.history.EventKind;
import io.mortise.torture.history.HistoryChecker;
import io.mortise.torture.history.HistoryEvent;
import io.mortise.torture.history.HistoryWriter;
import io.mortise.torture.history.Timeline;
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
 * One run: starts clients in separate processes, injects faults into them and the server, and
 * checks the history. For one thread.
 */
public final class TortureRun {
  /** The heap of a client, in megabytes. */
  private static final int HEAP = 128;

  /** The heap of a client that only waits, in megabytes. */
  private static final int SMALL_HEAP = 64;

  /** One holds, one is killed, one survives and wants the lock. */
  private static final int WAITERS = 3;

  private final TorturePlan plan;
  private final TortureEnvironment tortureEnvironment;
  private final Path folder;
  private final Consumer<String> tell;
  private final List<ContenderProcess> clients = new ArrayList<>();

  /** Clients that wait in queues and hold nothing else. */
  private final List<ContenderProcess> waiters = new ArrayList<>();

  private int started;

  /**
   * A run.
   *
   * @param tortureEnvironment the store; not closed
   * @param folder for the histories; exists
   * @param tell receives progress, line by line
   */
  public TortureRun(
      TorturePlan plan, TortureEnvironment tortureEnvironment, Path folder, Consumer<String> tell) {
    this.plan = plan;
    this.tortureEnvironment = tortureEnvironment;
    this.folder = folder;
    this.tell = tell;
  }

  /**
   * Executes the run. Blocks for the plan's time and some seconds. Leaves no process behind.
   *
   * @throws IOException if the histories cannot be written
   * @throws IllegalStateException if a client process ended by itself
   */
  public TortureResult run() throws IOException, InterruptedException {
    long began = System.nanoTime();
    ExpectedGuarantees promises = ExpectedGuarantees.of(tortureEnvironment.url(), plan.faults());
    tell.accept(
        promises.mode().isEmpty()
            ? "the guarantee table has no row for this store: nothing may break"
            : "row of the guarantee table: " + promises.mode());
    int faults;
    try (ResourceServer resourceServer = new ResourceServer();
        HistoryWriter history = new HistoryWriter(folder.resolve("run.log"));
        StallDetector stalls = new StallDetector(history, 0, plan.ttl().dividedBy(20))) {
      stalls.begin();
      try {
        for (int i = 0; i < plan.processes(); i++) {
          clients.add(start(resourceServer, ContenderMain.CONTENDER));
        }
        for (int i = 0; plan.hasWaiters() && i < WAITERS; i++) {
          waiters.add(start(resourceServer, ContenderMain.WAITER));
        }
        Nemesis nemesis =
            new Nemesis(
                plan,
                tortureEnvironment,
                resourceServer,
                clients,
                waiters,
                dead -> replace(dead, resourceServer),
                history,
                tell);
        nemesis.injectFaults(System.nanoTime() + plan.time().toNanos());
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
      resourceServer
          .values()
          .forEach(
              (lock, value) ->
                  history.add(
                      new HistoryEvent(System.nanoTime(), EventKind.FINAL, 0, lock, 0, value, 0)));
      lookForLeaks(history);
    }
    tell.accept("checking what they saw");
    return result(promises, began, faults);
  }

  private ContenderProcess start(ResourceServer resourceServer, String role) {
    int number = ++started;
    List<FaultInjectionProxy> faultInjectionProxies = tortureEnvironment.relays();
    Map<String, String> settings = new HashMap<>();
    settings.put("url", tortureEnvironment.url(faultInjectionProxies));
    settings.put("process", Integer.toString(number));
    settings.put("role", role);
    settings.put("threads", Integer.toString(plan.threads()));
    settings.put("resource", Integer.toString(resourceServer.port()));
    settings.put("ttl", Long.toString(plan.ttl().toMillis()));
    settings.put("hot", Integer.toString(plan.hot()));
    settings.put("sticky", Integer.toString(plan.processes()));
    settings.put("seed", Long.toString(plan.seed() * 1_000 + number));
    settings.put("history", folder.resolve("client-" + number + ".log").toString());
    settings.put("bulk", Integer.toString(plan.bulk()));
    if (role.equals(ContenderMain.WAITER)) {
      return new ContenderProcess(number, faultInjectionProxies, settings, SMALL_HEAP, folder);
    }
    int heap =
        HEAP
            + (plan.faults().contains(InjectedFault.FULL_GC)
                ? HeapFiller.megabytes(plan.overlong().toMillis())
                : 0);
    return new ContenderProcess(number, faultInjectionProxies, settings, heap, folder);
  }

  private void replace(ContenderProcess dead, ResourceServer resourceServer) {
    dead.close();
    if (waiters.contains(dead)) {
      waiters.set(waiters.indexOf(dead), start(resourceServer, ContenderMain.WAITER));
    } else {
      clients.set(clients.indexOf(dead), start(resourceServer, ContenderMain.CONTENDER));
    }
  }

  /** Records live holders and waiters that remain after all have given up. */
  private void lookForLeaks(HistoryWriter history) {
    try (LockClient locks =
        LockClient.builder()
            .url(tortureEnvironment.url())
            .ttl(plan.ttl())
            .name("torture")
            .build()) {
      List<String> wanted =
          new ArrayList<>(
              List.of(HistoryChecker.OPEN + 0, HistoryChecker.FAIR + 0, HistoryChecker.CROWD + 0));
      for (int i = 0; i < plan.hot(); i++) {
        wanted.add(Contender.HOT + i);
      }
      for (int i = 0; i < plan.processes(); i++) {
        wanted.add(HistoryChecker.STICKY + i);
      }
      if (plan.hasWaiters()) {
        wanted.add(HistoryChecker.QUEUE + 0);
      }
      for (String lock : wanted) {
        LockInfo view = locks.admin().find(lock).orElse(null);
        int count = view == null ? 0 : view.holders().size() + view.waiters().size();
        if (count > 0) {
          history.add(new HistoryEvent(System.nanoTime(), EventKind.LEFT, 0, lock, 0, 0, count));
        }
      }
    }
  }

  private TortureResult result(ExpectedGuarantees promises, long began, int faults)
      throws IOException {
    long ended = System.nanoTime();
    HistoryChecker historyChecker =
        new HistoryChecker(
            plan.ttl(), promises.expiry(plan.ttl()), plan.patience(), promises.effects());
    Timeline timeline = new Timeline(began, ended);
    List<Path> files;
    try (Stream<Path> all = Files.list(folder)) {
      files = all.filter(file -> file.toString().endsWith(".log")).sorted().toList();
    }
    HistoryWriter.read(
        files,
        event -> {
          historyChecker.take(event);
          timeline.take(event);
        });
    CheckResult verdict =
        historyChecker.check(promises.servesAll(), promises.crowdDelay(plan.ttl()));
    verdict.findings().forEach(timeline::mark);
    return new TortureResult(
        tortureEnvironment.name(),
        promises,
        plan,
        faults,
        Duration.ofNanos(ended - began),
        verdict,
        timeline);
  }

  /**
   * The result of a run.
   *
   * @param store name of the store
   * @param promises to be kept
   * @param faults the number of faults
   * @param took from start to end
   */
  public record TortureResult(
      String store,
      ExpectedGuarantees promises,
      TorturePlan plan,
      int faults,
      Duration took,
      CheckResult verdict,
      Timeline timeline) {
    /** The outcome. */
    public TortureOutcome outcome() {
      if (!verdict.isClean()) {
        return TortureOutcome.BROKEN;
      }
      boolean loud =
          verdict.controlsAreLoud()
              && (!plan.faults().contains(InjectedFault.KILL_WAITER) || verdict.naiveDelays() > 0);
      return loud ? TortureOutcome.KEPT : TortureOutcome.VOID;
    }

    /** Holds granted by the store. */
    public long remote() {
      return verdict.count(EventKind.HOLDS)
          + verdict.figures().cycles().getOrDefault(BulkWorkload.REMOTE, 0L);
    }

    /** Holds passed between threads of a process, without the store. */
    public long local() {
      return verdict.figures().cycles().getOrDefault(BulkWorkload.LOCAL, 0L);
    }

    /** Tries answered with busy since an idle holder did not answer in time. */
    public long unanswered() {
      return verdict.figures().cycles().getOrDefault(HistoryChecker.UNANSWERED, 0L);
    }

    /** Processes without a hold for 20 TTLs in which others held, on stores that permit that. */
    public long unserved() {
      return verdict.figures().cycles().getOrDefault(HistoryChecker.UNSERVED, 0L);
    }

    /** Idle grants of sticky locks reused by their process, without the store. */
    public long retaken() {
      return verdict.figures().cycles().getOrDefault(StickyCounter.RETAKEN, 0L);
    }
  }

  /** The possible outcomes. */
  public enum TortureOutcome {
    /** Every promise was kept, and the controls broke. */
    KEPT,
    /** A promise was broken. */
    BROKEN,
    /** The controls did not break: the run proves nothing. */
    VOID
  }
}
