package io.mortise.simulation;

import io.mortise.Lease;
import io.mortise.LockName;
import io.mortise.internal.client.EngineClient;
import io.mortise.internal.engine.RawLease;
import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.runtime.EngineScheduler;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** A process from its start to its death, with its own client. */
final class SimProcess {
  final String name;
  final SimHost host;
  final SimStore store;
  final EngineClient client;

  /** The TTL of its sessions. */
  final long ttl;

  boolean alive = true;
  boolean closed;

  /** Whether it lacked a connection for pushes at some time. */
  boolean wasDisconnected;

  /** Whether callbacks run at once, so that the state at their call is the state at their run. */
  private final boolean prompt;

  /** The incarnation of the server that it knows of. */
  private int incarnation;

  private final VirtualTimeScheduler virtualTimeScheduler;
  private final SimServer server;
  private final InvariantChecker invariantChecker;
  private final boolean sleeps;
  private final boolean forgets;

  /** Whether there are no faults. */
  private final boolean calm;

  private final List<BelievedLease> believedLeases = new ArrayList<>();

  /** A lease in use, with the deadline last known to its user, on the host's clock. */
  private static final class BelievedLease {
    final String attempt;
    final Lease lease;
    long until;

    BelievedLease(String attempt, Lease lease, long until) {
      this.attempt = attempt;
      this.lease = lease;
      this.until = until;
    }
  }

  SimProcess(
      VirtualTimeScheduler virtualTimeScheduler,
      InvariantChecker invariantChecker,
      SimHost host,
      SimServer server,
      SimTransport wire,
      String name,
      Scenario scenario) {
    this.virtualTimeScheduler = virtualTimeScheduler;
    this.invariantChecker = invariantChecker;
    this.server = server;
    this.host = host;
    this.sleeps = scenario.has(SimFault.SUSPEND);
    this.forgets = scenario.has(SimFault.FORGET);
    this.calm = scenario.faults().isEmpty();
    this.name = name;
    this.store = server.open(this, wire);
    SplittableRandom random = virtualTimeScheduler.random();
    this.ttl = server.settings.ttl(random);
    SplittableRandom lag = virtualTimeScheduler.random();
    this.prompt = lag.nextBoolean();
    EngineScheduler timers =
        (delay, task) ->
            virtualTimeScheduler.whenDue(
                this,
                host.nanos() + Math.max(0, delay) + lag.nextLong(50 * VirtualTimeScheduler.MICRO),
                task);
    EngineEnv env =
        new EngineEnv(
            host::nanos,
            timers,
            timers,
            task ->
                virtualTimeScheduler.at(
                    virtualTimeScheduler.now()
                        + (prompt ? 0 : lag.nextLong(20 * VirtualTimeScheduler.MICRO)),
                    this,
                    task),
            host::suspended,
            random,
            scenario.rules().engine(),
            Duration.ofNanos(ttl),
            new ClientLabel("sim", 1, name));
    this.client = new EngineClient(store, env, () -> {});
  }

  /** Begins to believe in a lease. */
  void believe(String attempt, Lease lease) {
    long token = RawLease.token(lease);
    if (prompt && !lease.isValid() && host.ranSince(virtualTimeScheduler.now())) {
      invariantChecker.violation(
          "stale grant", lease.name(), attempt + " was given a lease that is over.");
    }
    long left = lease.remaining().toNanos();
    if (calm && left < ttl / 3 && !lease.name().startsWith("timed")) {
      invariantChecker.violation(
          "short lease", lease.name(), attempt + " begins with " + left + " ns.");
    }
    long until = host.nanos() + left;
    invariantChecker.granted(this, attempt, token, host.trueTime(until));
    if (lease.isValid()) {
      believedLeases.add(new BelievedLease(attempt, lease, until));
    }
  }

  void disbelieve(String attempt) {
    believedLeases.removeIf(believedLease -> believedLease.attempt.equals(attempt));
  }

  /** Called after each event of this process: records changes of its beliefs. */
  void observe() {
    for (int i = 0; i < believedLeases.size(); i++) {
      BelievedLease believedLease = believedLeases.get(i);
      long left = believedLease.lease.remaining().toNanos();
      if (left > 0) {
        invariantChecker.believes(believedLease.attempt, incarnation);
        long until = host.nanos() + left;
        if (until != believedLease.until) {
          believedLease.until = until;
          invariantChecker.extended(this, believedLease.attempt, host.trueTime(until));
        }
      } else {
        checkTold(believedLease);
      }
    }
  }

  /** A notification has arrived. */
  void heard(SessionNotification sessionNotification) {
    if (sessionNotification instanceof SessionNotification.Contended contended) {
      invariantChecker.knowsWanted(contended.attempt(), host.nanos());
    } else if (sessionNotification instanceof SessionNotification.HoldGranted granted
        && granted.wanted()
        && !forgets) {
      // After a possible failover a push is not believed, but verified.
      invariantChecker.knowsWanted(granted.attempt(), host.nanos());
    }
  }

  void heard(Renewal renewal) {
    if (renewal instanceof Renewal.Renewed renewed) {
      renewed.notifications().forEach(item -> heard(item.notification()));
      String told = renewed.incarnation();
      incarnation = Math.max(incarnation, told.isEmpty() ? 0 : Integer.parseInt(told.substring(1)));
    }
    virtualTimeScheduler.trace(() -> this + " hears " + renewal);
  }

  void heard(LockName name, Reply reply) {
    if (reply instanceof Reply.Queued queued) {
      invariantChecker.queued(queued.attempt());
    } else if (reply instanceof Reply.Granted granted && granted.wanted()) {
      invariantChecker.knowsWanted(granted.attempt(), host.nanos());
    }
    virtualTimeScheduler.trace(() -> this + " hears about " + name + ": " + SimServer.text(reply));
  }

  /** The true time until which a session lives in the store. */
  long livesUntil(SessionId session) {
    return server.livesUntil(session);
  }

  /** Checks that a lease is lost by the process's own timer, whatever the store says. */
  private void checkTold(BelievedLease believedLease) {
    long since = host.trueTime(believedLease.until);
    long grace = 2 * VirtualTimeScheduler.MILLI;
    if (virtualTimeScheduler.now() - since > grace
        && host.ranSince(virtualTimeScheduler.now() - grace)
        && !sleeps) {
      invariantChecker.violation(
          "loss untold",
          believedLease.lease.name(),
          believedLease.attempt + " is over, but was not told.");
    }
  }

  /** Checks that renewals of a lost session were tried often enough. */
  void checkTried(String attempt, Lease lease) {
    if (store.gaveUpEarly() && host.ranSince(virtualTimeScheduler.now() - ttl)) {
      invariantChecker.violation(
          "needless loss", lease.name(), attempt + " was lost after too few renewals.");
    }
  }

  void die() {
    alive = false;
    believedLeases.clear();
    invariantChecker.died(this);
  }

  @Override
  public String toString() {
    return name;
  }
}
