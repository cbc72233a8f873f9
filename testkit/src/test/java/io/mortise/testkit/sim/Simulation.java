package io.mortise.testkit.sim;

import io.mortise.Lease;
import io.mortise.spi.SessionId;
import io.mortise.testkit.history.HistoryChecks;
import io.mortise.testkit.history.Violation;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/** One run: a time of faults, a time without, then all give up what they have. */
final class Simulation {
  final List<Life> lives = new ArrayList<>();
  final Server server;
  final Judge judge;
  private final Scenario scenario;
  private final World world;
  private final Settings settings;
  private final Wire wire;
  private final Nemesis nemesis;
  private final List<SimLock> locks = new ArrayList<>();
  private final List<Host> hosts = new ArrayList<>();
  private final List<Host> everyHost = new ArrayList<>();
  private final List<Actor> actors = new ArrayList<>();
  private final List<Life> closed = new ArrayList<>();
  private int born;
  private boolean ending;

  /** What came of a run. */
  record Outcome(Scenario scenario, List<Violation> violations, List<String> trace, Stats stats) {}

  /** How much happened: a run in which nobody got a lock proves nothing. */
  record Stats(long steps, int grants, int losses) {}

  private Simulation(Scenario scenario) {
    this.scenario = scenario;
    this.world = new World(scenario.seed(), scenario.traced());
    this.settings = new Settings(world.random());
    this.judge = new Judge(world, scenario);
    this.server = new Server(world, settings, scenario, judge);
    this.wire = new Wire(world, settings, scenario);
    this.nemesis = new Nemesis(world, settings, scenario, this);
    for (int i = 0; i < settings.locks; i++) {
      locks.add(new SimLock(i, world.random(), settings));
    }
    for (int i = 0; i < settings.processes; i++) {
      hosts.add(new Host(world, world.random()));
    }
  }

  static Outcome run(Scenario scenario) {
    return new Simulation(scenario).run();
  }

  private Outcome run() {
    world.trace(() -> scenario.toString());
    hosts.forEach(host -> start(host, settings.acquires));
    nemesis.begin();
    long most = world.now() + 8 * settings.ttl;
    while (world.now() < most && !allIdle()) {
      world.runUntil(world.now() + settings.ttl / 2);
    }
    nemesis.rest();
    for (Host host : List.copyOf(everyHost)) {
      world.runUntil(host.runsAt(world.now()));
    }
    heal();
    long healedAt = world.now();
    long bound = waitBound(true);
    if (scenario.seed() % 4 != 1) {
      // Else nobody comes back, and what was left behind stays to be found.
      actors.forEach(actor -> actor.work(3));
    }
    while (world.now() < healedAt + bound + 2 * settings.ttl && !allIdle()) {
      world.runUntil(world.now() + settings.ttl / 2);
    }
    ending = true;
    world.trace(() -> "all retire");
    actors.forEach(Actor::retire);
    world.runUntil(world.now() + 2 * settings.ttl + World.SECOND + server.setBack());
    checkNothingIsLeft();
    boolean always = Fault.HARMLESS.containsAll(scenario.faults());
    List<Violation> violations =
        judge.verdict(lock -> waitBound(lock.startsWith("timed")), always ? 0 : healedAt);
    return new Outcome(
        scenario, violations, world.trace(), new Stats(world.steps(), judge.grants, judge.losses));
  }

  private boolean allIdle() {
    return actors.stream().allMatch(Actor::isIdle);
  }

  private void heal() {
    world.trace(() -> "all is healed");
    wire.heal();
    server.down(false);
    server.pauseUntil(0);
    for (Life life : lives) {
      life.store.requests.heal();
      life.store.renewals.heal();
      life.store.pushes.heal();
    }
  }

  /**
   * How long a lock may stay free while somebody waits. When a lock that was released early opens,
   * nobody is there to say so: the next poll finds it.
   */
  private long waitBound(boolean opensByTime) {
    long trip = 8 * settings.delayMost + 10 * World.MILLI;
    boolean pushed = settings.capabilities.size() == ALL_CAPABILITIES;
    if (scenario.faults().isEmpty() && pushed && !opensByTime) {
      return trip;
    }
    long poll = settings.ttl / 3 + trip;
    boolean mild =
        scenario.faults().stream()
            .allMatch(
                fault ->
                    fault == Fault.PUSH_LOST
                        || fault == Fault.PUSH_LATE
                        || fault == Fault.PUSH_DUPLICATE);
    return mild
        // Grants whose at-most time is over before they arrive cost some trips.
        ? poll + (opensByTime ? 20 * trip : 0)
        : settings.ttl
            + poll
            + 2 * settings.maxInFlight
            + World.SECOND
            + 10 * trip
            + server.setBack();
  }

  private static final int ALL_CAPABILITIES = io.mortise.spi.Capability.values().length;

  // ---- Processes ----

  private void start(Host host, int acquires) {
    everyHost.add(host);
    Life life = new Life(world, judge, host, server, wire, "p" + ++born, scenario);
    lives.add(life);
    for (int i = 0; i < settings.actors; i++) {
      Actor actor = new Actor(world, settings, judge, life, life.name + (char) ('a' + i), locks);
      actors.add(actor);
      actor.work(acquires);
    }
  }

  /** The process dies without a word; another starts in its place. */
  void crash(Life life, long downFor) {
    if (life.alive && !life.closed) {
      life.die();
      replace(life, downFor);
    }
  }

  /** As {@link #crash}, and the store sees its connections end. */
  void kill(Life life, long downFor) {
    if (life.alive && !life.closed) {
      life.store.sessions().forEach(session -> server.connected(session, false));
      crash(life, downFor);
    }
  }

  /** The client is closed, and waits for nothing or for a while; another starts in its place. */
  void close(Life life, long downFor, long patience) {
    if (life.alive && !life.closed) {
      world.at(
          world.now(),
          life,
          () -> {
            world.trace(() -> life + " closes its client");
            life.closed = true;
            closed.add(life);
            life.client.engine().giveAllUp();
            finish(life, world.now() + patience);
          });
      replace(life, downFor);
    }
  }

  private void finish(Life life, long until) {
    if (life.client.engine().isEnding() && world.now() < until) {
      world.at(world.now() + World.MILLI, life, () -> finish(life, until));
      return;
    }
    SessionId session = life.store.latestSession();
    if (!life.client.engine().isEnding() && Fault.ANSWERED.containsAll(scenario.faults())) {
      server.locks().stream()
          .flatMap(view -> Stream.concat(view.holders().stream(), view.waiters().stream()))
          .filter(party -> party.attempt().session().equals(session))
          .forEach(
              party ->
                  judge.violation(
                      "leak", "-", party.attempt() + " outlived a close that was waited for."));
    }
    world.trace(() -> life + " has closed its client");
  }

  private void replace(Life life, long downFor) {
    lives.remove(life);
    actors.removeIf(actor -> actor.life() == life);
    int index = hosts.indexOf(life.host);
    Host host = new Host(world, world.random());
    hosts.set(index, host);
    world.at(
        world.now() + downFor,
        () -> {
          if (!ending) {
            start(host, settings.acquires / 2);
          }
        });
  }

  // ---- The end ----

  /**
   * Nobody keeps anything, in a process or in the store. A copy of a request of which no process
   * knows may have left a hold of a live session: that one must go as soon as somebody wants the
   * lock.
   */
  private void checkNothingIsLeft() {
    for (int i = 0; i < 20; i++) {
      server.sweep();
    }
    if (!scenario.has(Fault.DUPLICATE)) {
      checkTable();
    }
    Life prober =
        new Life(world, judge, new Host(world, world.random()), server, wire, "p", scenario);
    List<CompletableFuture<Void>> probes = new ArrayList<>();
    for (SimLock lock : locks) {
      world.at(
          world.now(),
          prober,
          () ->
              probes.add(
                  lock.handle(prober.client, lock.whole())
                      .acquireAsync()
                      .thenCompose(Lease::releaseAsync)));
    }
    world.runUntil(world.now() + 2 * settings.ttl + World.SECOND);
    for (int i = 0; i < probes.size(); i++) {
      if (!probes.get(i).isDone()) {
        judge.violation("leak", locks.get(i).name, "Nobody holds it, but it cannot be had.");
      }
    }
    checkTable();
    List<Life> all = new ArrayList<>(lives);
    all.addAll(closed);
    all.add(prober);
    for (Life life : all) {
      int footprint = life.client.engine().footprint();
      if (footprint != 0) {
        judge.violation("leak", "-", life + " still keeps " + footprint + " claims or endings.");
      }
    }
  }

  private void checkTable() {
    HistoryChecks.leaks(server.locks())
        .forEach(leak -> judge.violation("leak", leak.lock(), leak.message()));
  }
}
