package io.mortise.testkit.sim;

import io.mortise.Lease;
import io.mortise.LockName;
import io.mortise.internal.engine.EngineClient;
import io.mortise.internal.engine.EngineEnv;
import io.mortise.internal.engine.EngineScheduler;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.News;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.SessionId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** One process from its start to its death, with a client of its own. */
final class Life {
  final String name;
  final Host host;
  final SimStore store;
  final EngineClient client;

  /** Of its sessions. */
  final long ttl;

  boolean alive = true;
  boolean closed;

  /** For some time it could not be pushed to. */
  boolean wasDisconnected;

  /** Callbacks run at once: what was true when they were called is true when they run. */
  private final boolean prompt;

  /** Which server it has heard of. */
  private int memory;

  private final World world;
  private final Server server;
  private final Judge judge;
  private final boolean sleeps;
  private final boolean forgets;

  /** Nothing goes wrong. */
  private final boolean calm;

  private final List<Belief> beliefs = new ArrayList<>();

  /** A lease in somebody's hands, and until when he last knew it to be good, on his clock. */
  private static final class Belief {
    final String attempt;
    final Lease lease;
    long until;

    Belief(String attempt, Lease lease, long until) {
      this.attempt = attempt;
      this.lease = lease;
      this.until = until;
    }
  }

  Life(
      World world,
      Judge judge,
      Host host,
      Server server,
      Wire wire,
      String name,
      Scenario scenario) {
    this.world = world;
    this.judge = judge;
    this.server = server;
    this.host = host;
    this.sleeps = scenario.has(Fault.SUSPEND);
    this.forgets = scenario.has(Fault.FORGET);
    this.calm = scenario.faults().isEmpty();
    this.name = name;
    this.store = new SimStore(world, server, this, wire);
    SplittableRandom random = world.random();
    this.ttl = server.settings.ttl(random);
    SplittableRandom lag = world.random();
    this.prompt = lag.nextBoolean();
    EngineScheduler timers =
        (delay, task) ->
            world.whenDue(
                this, host.nanos() + Math.max(0, delay) + lag.nextLong(50 * World.MICRO), task);
    EngineEnv env =
        new EngineEnv(
            host::nanos,
            timers,
            timers,
            task ->
                world.at(world.now() + (prompt ? 0 : lag.nextLong(20 * World.MICRO)), this, task),
            host::suspended,
            random,
            scenario.rules().engine(),
            Duration.ofNanos(ttl),
            new ClientLabel("sim", 1, name));
    this.client = new EngineClient(store, env, () -> {});
  }

  /** Begins to believe in a lease. */
  void believe(String attempt, Lease lease) {
    long token = lease.token();
    if (prompt && !lease.isValid() && host.ranSince(world.now())) {
      judge.violation("stale grant", lease.name(), attempt + " was given a lease that is over.");
    }
    long left = lease.remaining().toNanos();
    if (calm && left < ttl / 3 && !lease.name().startsWith("timed")) {
      judge.violation("short lease", lease.name(), attempt + " begins with " + left + " ns.");
    }
    long until = host.nanos() + left;
    judge.granted(this, attempt, token, host.trueTime(until));
    if (lease.isValid()) {
      beliefs.add(new Belief(attempt, lease, until));
    }
  }

  void disbelieve(String attempt) {
    beliefs.removeIf(belief -> belief.attempt.equals(attempt));
  }

  /** After each event of this process: whatever it learnt shows in what it believes. */
  void observe() {
    for (int i = 0; i < beliefs.size(); i++) {
      Belief belief = beliefs.get(i);
      long left = belief.lease.remaining().toNanos();
      if (left > 0) {
        judge.believes(belief.attempt, memory);
        long until = host.nanos() + left;
        if (until != belief.until) {
          belief.until = until;
          judge.extended(this, belief.attempt, host.trueTime(until));
        }
      } else {
        checkTold(belief);
      }
    }
  }

  /** This process was told something by the store. */
  void heard(News news) {
    if (news instanceof News.Wanted wanted) {
      judge.knowsWanted(wanted.attempt(), host.nanos());
    } else if (news instanceof News.Granted granted && granted.wanted() && !forgets) {
      // Where a server may have taken over a push is not believed, but asked for.
      judge.knowsWanted(granted.attempt(), host.nanos());
    }
  }

  void heard(Renewal renewal) {
    if (renewal instanceof Renewal.Renewed renewed) {
      renewed.news().forEach(item -> heard(item.news()));
      memory = Math.max(memory, Integer.parseInt(renewed.memory().substring(1)));
    }
    world.trace(() -> this + " hears " + renewal);
  }

  void heard(LockName name, Reply reply) {
    if (reply instanceof Reply.Queued queued) {
      judge.queued(queued.attempt());
    } else if (reply instanceof Reply.Granted granted && granted.wanted()) {
      judge.knowsWanted(granted.attempt(), host.nanos());
    }
    world.trace(() -> this + " hears about " + name + ": " + Server.text(reply));
  }

  /** The true time until which a session lives in the store. */
  long livesUntil(SessionId session) {
    return server.livesUntil(session);
  }

  /** A lease is lost by the process's own timer, whatever the store says. */
  private void checkTold(Belief belief) {
    long since = host.trueTime(belief.until);
    long grace = 2 * World.MILLI;
    if (world.now() - since > grace && host.ranSince(world.now() - grace) && !sleeps) {
      judge.violation(
          "loss untold", belief.lease.name(), belief.attempt + " is over, but was not told.");
    }
  }

  /** The session was lost since it was not renewed: was that for want of trying? */
  void checkTried(String attempt, Lease lease) {
    if (store.gaveUpEarly() && host.ranSince(world.now() - ttl)) {
      judge.violation("needless loss", lease.name(), attempt + " was lost after too few renewals.");
    }
  }

  void die() {
    alive = false;
    beliefs.clear();
    judge.died(this);
  }

  @Override
  public String toString() {
    return name;
  }
}
