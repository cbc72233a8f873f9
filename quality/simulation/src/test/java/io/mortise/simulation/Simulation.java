package io.mortise.simulation;

import io.mortise.Lease;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.SessionId;
import io.mortise.testkit.history.HistoryChecks;
import io.mortise.testkit.history.Violation;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/** A run: a phase with faults, a phase without, then all holds and waits are ended. */
final class Simulation {
  final List<SimProcess> lives = new ArrayList<>();
  final SimServer server;
  final InvariantChecker invariantChecker;
  private final Scenario scenario;
  private final VirtualTimeScheduler virtualTimeScheduler;
  private final SimSettings settings;
  private final SimTransport wire;
  private final FaultInjector faultInjector;
  private final List<SimLock> locks = new ArrayList<>();
  private final List<SimHost> simHosts = new ArrayList<>();
  private final List<SimHost> everyHost = new ArrayList<>();
  private final List<SimWorker> actors = new ArrayList<>();
  private final List<SimProcess> closed = new ArrayList<>();
  private int born;
  private boolean ending;

  /** The result of a run. */
  record Outcome(Scenario scenario, List<Violation> violations, List<String> trace, Stats stats) {}

  /** The amount of activity: a run without grants proves nothing. */
  record Stats(long steps, int grants, int losses) {}

  private Simulation(Scenario scenario) {
    this.scenario = scenario;
    this.virtualTimeScheduler = new VirtualTimeScheduler(scenario.seed(), scenario.traced());
    this.settings = new SimSettings(virtualTimeScheduler.random(), scenario.store());
    this.invariantChecker = new InvariantChecker(virtualTimeScheduler, scenario);
    this.server = SimServer.of(virtualTimeScheduler, settings, scenario, invariantChecker);
    this.wire = new SimTransport(virtualTimeScheduler, settings, scenario);
    this.faultInjector = new FaultInjector(virtualTimeScheduler, settings, scenario, this);
    for (int i = 0; i < settings.locks; i++) {
      locks.add(new SimLock(i, virtualTimeScheduler.random(), settings));
    }
    for (int i = 0; i < settings.processes; i++) {
      simHosts.add(new SimHost(virtualTimeScheduler, virtualTimeScheduler.random()));
    }
  }

  static Outcome run(Scenario scenario) {
    return new Simulation(scenario).run();
  }

  private Outcome run() {
    virtualTimeScheduler.trace(() -> scenario.toString());
    simHosts.forEach(simHost -> start(simHost, settings.acquires));
    faultInjector.begin();
    long most = virtualTimeScheduler.now() + 8 * settings.ttl;
    while (virtualTimeScheduler.now() < most && !allIdle()) {
      virtualTimeScheduler.runUntil(virtualTimeScheduler.now() + settings.ttl / 2);
    }
    faultInjector.rest();
    for (SimHost simHost : List.copyOf(everyHost)) {
      virtualTimeScheduler.runUntil(simHost.runsAt(virtualTimeScheduler.now()));
    }
    heal();
    long healedAt = virtualTimeScheduler.now();
    long bound = waitBound(true, true);
    if (scenario.seed() % 4 != 1) {
      // In the other runs no worker returns, and leftovers stay for the check.
      actors.forEach(simWorker -> simWorker.work(3));
    }
    while (virtualTimeScheduler.now() < healedAt + bound + 2 * settings.ttl && !allIdle()) {
      virtualTimeScheduler.runUntil(virtualTimeScheduler.now() + settings.ttl / 2);
    }
    ending = true;
    virtualTimeScheduler.trace(() -> "all retire");
    actors.forEach(SimWorker::retire);
    virtualTimeScheduler.runUntil(
        virtualTimeScheduler.now()
            + 2 * settings.ttl
            + VirtualTimeScheduler.SECOND
            + server.setBack());
    checkNothingIsLeft();
    boolean always = SimFault.HARMLESS.containsAll(scenario.faults());
    List<Violation> violations =
        invariantChecker.verdict(
            lock -> waitBound(lock.startsWith("timed"), isSticky(lock)), always ? 0 : healedAt);
    return new Outcome(
        scenario,
        violations,
        virtualTimeScheduler.trace(),
        new Stats(virtualTimeScheduler.steps(), invariantChecker.grants, invariantChecker.losses));
  }

  private boolean allIdle() {
    return actors.stream().allMatch(SimWorker::isIdle);
  }

  private void heal() {
    virtualTimeScheduler.trace(() -> "all is healed");
    wire.heal();
    server.down(false);
    server.pauseUntil(0);
    for (SimProcess simProcess : lives) {
      simProcess.store.requests.heal();
      simProcess.store.renewals.heal();
      simProcess.store.pushes.heal();
    }
  }

  /**
   * The bound on the time that a lock stays free despite a waiter. The end of an at-least time
   * triggers no push: the next poll finds it. An idle grant is called back and handed over, and
   * both pushes may be lost: the holder then learns of the waiter by a renewal, or over documents
   * by a look, and the waiter of the grant by a poll.
   */
  private long waitBound(boolean opensByTime, boolean sticky) {
    boolean isTable = scenario.store() == Scenario.StoreKind.TABLE;
    // Over documents a step has several round trips, and pauses after conflicts.
    long trip =
        isTable
            ? 8 * settings.delayMost + 10 * VirtualTimeScheduler.MILLI
            : 60 * settings.delayMost + 250 * VirtualTimeScheduler.MILLI;
    boolean pushed =
        settings.capabilities.containsAll(EnumSet.of(Capability.PUSH, Capability.QUEUE));
    if (scenario.faults().isEmpty() && pushed && !opensByTime) {
      return trip;
    }
    boolean observed =
        opensByTime && scenario.store() == Scenario.StoreKind.DOCUMENTS_WITHOUT_CLOCK;
    // A newcomer counts the whole of an at-least time, a quarter of a TTL at most, once more.
    long poll = settings.ttl / 3 + trip;
    long callBack = (isTable ? settings.ttl / 3 : Math.min(settings.ttl / 3, lookNanos())) + trip;
    poll += (sticky ? callBack : 0) + (observed ? settings.ttl * 26 / 100 : 0);
    boolean mild =
        scenario.faults().stream()
            .allMatch(
                fault ->
                    fault == SimFault.PUSH_LOST
                        || fault == SimFault.PUSH_LATE
                        || fault == SimFault.PUSH_DUPLICATE);
    return mild
        // Grants whose at-most time ends before they arrive cost some round trips.
        ? poll + (opensByTime ? 20 * trip : 0)
        : (isTable ? 1 : 2) * settings.ttl
            + poll
            + 2 * settings.maxInFlight
            + VirtualTimeScheduler.SECOND
            + 10 * trip
            + server.setBack();
  }

  /** The pause between two looks for call-backs while grants are idle. */
  private long lookNanos() {
    return settings.capabilities.contains(Capability.PUSH)
        ? VirtualTimeScheduler.SECOND
        : 100 * VirtualTimeScheduler.MILLI;
  }

  private boolean isSticky(String lock) {
    return locks.stream().anyMatch(simLock -> simLock.name.equals(lock) && simLock.isSticky());
  }

  // ---- Processes ----

  private void start(SimHost simHost, int acquires) {
    everyHost.add(simHost);
    SimProcess simProcess =
        new SimProcess(
            virtualTimeScheduler, invariantChecker, simHost, server, wire, "p" + ++born, scenario);
    lives.add(simProcess);
    for (int i = 0; i < settings.actors; i++) {
      SimWorker simWorker =
          new SimWorker(
              virtualTimeScheduler,
              settings,
              invariantChecker,
              simProcess,
              simProcess.name + (char) ('a' + i),
              locks);
      actors.add(simWorker);
      simWorker.work(acquires);
    }
  }

  /** Crashes the process silently; another starts in its place. */
  void crash(SimProcess simProcess, long downFor) {
    if (simProcess.alive && !simProcess.closed) {
      simProcess.die();
      replace(simProcess, downFor);
    }
  }

  /** Like {@link #crash}, but the store sees its connections end. */
  void kill(SimProcess simProcess, long downFor) {
    if (simProcess.alive && !simProcess.closed) {
      simProcess.store.sessions().forEach(session -> server.connected(session, false));
      crash(simProcess, downFor);
    }
  }

  /** Closes the client, with or without patience; another starts in its place. */
  void close(SimProcess simProcess, long downFor, long patience) {
    if (simProcess.alive && !simProcess.closed) {
      virtualTimeScheduler.at(
          virtualTimeScheduler.now(),
          simProcess,
          () -> {
            virtualTimeScheduler.trace(() -> simProcess + " closes its client");
            simProcess.closed = true;
            closed.add(simProcess);
            simProcess.client.engine().abandonAll();
            finish(simProcess, virtualTimeScheduler.now() + patience);
          });
      replace(simProcess, downFor);
    }
  }

  private void finish(SimProcess simProcess, long until) {
    if (simProcess.client.engine().isEnding() && virtualTimeScheduler.now() < until) {
      virtualTimeScheduler.at(
          virtualTimeScheduler.now() + VirtualTimeScheduler.MILLI,
          simProcess,
          () -> finish(simProcess, until));
      return;
    }
    SessionId session = simProcess.store.latestSession();
    if (!simProcess.client.engine().isEnding()
        && SimFault.ANSWERED.containsAll(scenario.faults())) {
      server.locks().stream()
          .flatMap(view -> Stream.concat(view.holders().stream(), view.waiters().stream()))
          .filter(party -> AttemptId.parse(party.attempt()).session().equals(session))
          .forEach(
              party ->
                  invariantChecker.violation(
                      "leak", "-", party.attempt() + " outlived a close that was waited for."));
    }
    virtualTimeScheduler.trace(() -> simProcess + " has closed its client");
    if (scenario.store() != Scenario.StoreKind.TABLE) {
      var unused = simProcess.client.engine().endSession();
    }
  }

  private void replace(SimProcess simProcess, long downFor) {
    lives.remove(simProcess);
    actors.removeIf(simWorker -> simWorker.life() == simProcess);
    int index = simHosts.indexOf(simProcess.host);
    SimHost simHost = new SimHost(virtualTimeScheduler, virtualTimeScheduler.random());
    simHosts.set(index, simHost);
    virtualTimeScheduler.at(
        virtualTimeScheduler.now() + downFor,
        () -> {
          if (!ending) {
            start(simHost, settings.acquires / 2);
          }
        });
  }

  // ---- The end ----

  /**
   * Checks that neither processes nor the store keep anything. A copied request, unknown to its
   * process, may have left a hold of a live session, which must end as soon as another process
   * wants the lock.
   */
  private void checkNothingIsLeft() {
    if (scenario.store() != Scenario.StoreKind.TABLE) {
      // Late renewals of dead processes arrive; then their beats stand still for a TTL of an
      // observer.
      virtualTimeScheduler.runUntil(virtualTimeScheduler.now() + wire.longestInFlight);
      server.sweep();
      virtualTimeScheduler.runUntil(virtualTimeScheduler.now() + settings.ttl * 11 / 10);
    }
    for (int i = 0; i < 20; i++) {
      server.sweep();
    }
    if (!scenario.has(SimFault.DUPLICATE)) {
      checkTable();
    }
    SimProcess prober =
        new SimProcess(
            virtualTimeScheduler,
            invariantChecker,
            new SimHost(virtualTimeScheduler, virtualTimeScheduler.random()),
            server,
            wire,
            "p",
            scenario);
    List<CompletableFuture<Void>> probes = new ArrayList<>();
    for (SimLock lock : locks) {
      virtualTimeScheduler.at(
          virtualTimeScheduler.now(),
          prober,
          () ->
              probes.add(
                  lock.handle(prober.client, lock.whole())
                      .acquireAsync()
                      .thenCompose(Lease::releaseAsync)));
    }
    virtualTimeScheduler.runUntil(
        virtualTimeScheduler.now() + 2 * settings.ttl + VirtualTimeScheduler.SECOND);
    for (int i = 0; i < probes.size(); i++) {
      if (!probes.get(i).isDone()) {
        invariantChecker.violation(
            "leak", locks.get(i).name, "Nobody holds it, but it cannot be had.");
      }
    }
    checkTable();
    List<SimProcess> all = new ArrayList<>(lives);
    all.addAll(closed);
    all.add(prober);
    for (SimProcess simProcess : all) {
      int footprint = simProcess.client.engine().footprint();
      if (footprint != 0) {
        invariantChecker.violation(
            "leak", "-", simProcess + " still keeps " + footprint + " claims or endings.");
      }
    }
    if (server instanceof SimDocumentServer documents) {
      checkDocuments(documents, all);
    }
  }

  /**
   * Checks that a closing client removes its session's document, and a sweep those of dead
   * processes.
   */
  private void checkDocuments(SimDocumentServer documents, List<SimProcess> all) {
    boolean answered = SimFault.ANSWERED.containsAll(scenario.faults());
    for (SimProcess simProcess : closed) {
      SessionId session = simProcess.store.latestSession();
      boolean kept = session != null && documents.keeps(session);
      if (kept && answered && !documents.hasClock && simProcess.alive) {
        invariantChecker.violation("leak", "-", simProcess + " closed, and its session stays.");
      }
    }
    if (scenario.seed() % 4 == 2) {
      all.forEach(SimProcess::die);
      for (int day = 0; day < 4; day++) {
        virtualTimeScheduler.runUntil(virtualTimeScheduler.now() + VirtualTimeScheduler.DAY);
        documents.sweep();
      }
      documents
          .leftovers()
          .forEach(
              key -> invariantChecker.violation("leak", "-", key + " stays although nobody is."));
    }
  }

  private void checkTable() {
    HistoryChecks.leaks(server.locks())
        .forEach(leak -> invariantChecker.violation("leak", leak.lock(), leak.message()));
  }
}
