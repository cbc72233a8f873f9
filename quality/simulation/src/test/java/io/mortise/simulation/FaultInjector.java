package io.mortise.simulation;

import io.mortise.LockName;
import io.mortise.admin.Eviction;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionSpec;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;

/** Injects the faults that a scenario allows, except those of single messages. */
final class FaultInjector {
  private final VirtualTimeScheduler virtualTimeScheduler;
  private final SimSettings settings;
  private final Scenario scenario;
  private final Simulation simulation;
  private final SplittableRandom random;
  private final long pace;
  private boolean resting;

  FaultInjector(
      VirtualTimeScheduler virtualTimeScheduler,
      SimSettings settings,
      Scenario scenario,
      Simulation simulation) {
    this.virtualTimeScheduler = virtualTimeScheduler;
    this.settings = settings;
    this.scenario = scenario;
    this.simulation = simulation;
    this.random = virtualTimeScheduler.random();
    this.pace = random.nextBoolean() ? settings.ttl : settings.ttl * 4;
  }

  void begin() {
    for (SimFault simFault : scenario.faults()) {
      if (deed(simFault, false)) {
        again(simFault);
      }
    }
  }

  void rest() {
    resting = true;
  }

  private void again(SimFault simFault) {
    virtualTimeScheduler.at(
        virtualTimeScheduler.now() + random.nextLong(pace),
        () -> {
          if (!resting) {
            if (!simulation.lives.isEmpty()) {
              boolean done = deed(simFault, true);
              assert done;
            }
            again(simFault);
          }
        });
  }

  /** A random duration: short mostly, sometimes much longer than a TTL. */
  private long span() {
    return random.nextLong(
        switch (random.nextInt(3)) {
          case 0 -> settings.ttl / 20;
          case 1 -> settings.ttl;
          default -> settings.ttl * 5 / 2;
        });
  }

  /** Injects the fault if {@code now}; returns whether this class handles it. */
  private boolean deed(SimFault simFault, boolean now) {
    Runnable deed =
        switch (simFault) {
          case BREAK -> () -> anyLane().shatter(random.nextBoolean());
          case CUT -> this::cut;
          case PAUSE -> () -> anyLife().host.pause(span());
          case SUSPEND -> () -> anyLife().host.suspend(span());
          case CRASH -> () -> simulation.crash(anyLife(), span() / 4);
          case KILL -> () -> simulation.kill(anyLife(), span() / 4);
          case DISCONNECT -> this::disconnect;
          case CLONE -> this::cloneOne;
          case CLOSE ->
              () ->
                  simulation.close(anyLife(), span() / 4, random.nextBoolean() ? 0 : settings.ttl);
          case SERVER_PAUSE ->
              () -> simulation.server.pauseUntil(virtualTimeScheduler.now() + span());
          case OUTAGE -> () -> outage(false, () -> {});
          case STATE_LOSS -> () -> outage(true, simulation.server::forgetAll);
          case FORGET -> () -> outage(true, () -> simulation.server.forgetSome(random));
          case EVICT_CLOSE -> () -> evict(Eviction.CLOSE);
          case EVICT_BREAK -> () -> evict(Eviction.BREAK);
          case CLOCK_FORWARD -> () -> simulation.server.stepClock(span() / 1000);
          case CLOCK_BACK ->
              () -> simulation.server.stepClock(-random.nextLong(settings.ttl / 1000));
          default -> null;
        };
    if (deed == null) {
      return false;
    }
    if (now) {
      virtualTimeScheduler.trace(() -> "fault: " + simFault);
      deed.run();
    }
    return true;
  }

  private SimProcess anyLife() {
    return simulation.lives.get(random.nextInt(simulation.lives.size()));
  }

  private SimConnection anyLane() {
    SimStore store = anyLife().store;
    return switch (random.nextInt(3)) {
      case 0 -> store.renewals;
      default -> store.requests;
    };
  }

  private void cut() {
    SimStore store = anyLife().store;
    int which = random.nextInt(1, 4);
    long until = virtualTimeScheduler.now() + span();
    store.requests.cut((which & 1) != 0, (which & 2) != 0, until);
    store.renewals.cut((which & 1) != 0, (which & 2) != 0, until);
    store.pushes.cut(false, (which & 2) != 0, until);
  }

  private void disconnect() {
    SimProcess simProcess = anyLife();
    SessionId session = simProcess.store.latestSession();
    if (session != null) {
      long span = span();
      simProcess.wasDisconnected = true;
      simProcess.store.pushes.cut(false, true, virtualTimeScheduler.now() + span);
      simulation.server.connected(session, false);
      virtualTimeScheduler.at(
          virtualTimeScheduler.now() + span,
          () -> {
            if (simProcess.alive) {
              simulation.server.connected(session, true);
            }
          });
    }
  }

  private void cloneOne() {
    SimProcess simProcess = anyLife();
    SessionId session = simProcess.store.latestSession();
    long beat = session == null ? 0 : simulation.server.beat(session);
    if (beat != 0) {
      Duration ttl = Duration.ofNanos(simProcess.ttl);
      renewByClone(new SessionSpec(session, ttl, new ClientLabel("sim", 1, "clone")), beat);
    }
  }

  private void renewByClone(SessionSpec spec, long beat) {
    virtualTimeScheduler.at(
        virtualTimeScheduler.now() + random.nextLong(settings.ttl / 3),
        () -> {
          if (!resting && !simulation.server.isDown()) {
            long next = (((beat >>> 20) + 1) << 20) | random.nextInt(1 << 20);
            long confirmed = simulation.server.renewByClone(spec, beat, next);
            if (confirmed != 0 && random.nextInt(3) != 0) {
              renewByClone(spec, confirmed);
            }
          }
        });
  }

  private void outage(boolean forgets, Runnable forgetting) {
    if (simulation.server.isDown()) {
      return;
    }
    simulation.server.down(true);
    simulation.lives.forEach(
        simProcess -> {
          simProcess.store.requests.shatter(false);
          simProcess.store.renewals.shatter(false);
        });
    // A restart that loses state takes longer than tokens may run ahead of the clock.
    long lasts = forgets ? 1_010 * VirtualTimeScheduler.MILLI + span() : span();
    virtualTimeScheduler.at(
        virtualTimeScheduler.now() + lasts,
        () -> {
          forgetting.run();
          simulation.server.down(false);
        });
  }

  private void evict(Eviction how) {
    List<LockInfo> views = simulation.server.locks();
    if (views.isEmpty()) {
      return;
    }
    LockInfo view = views.get(random.nextInt(views.size()));
    if (view.holders().isEmpty() && !view.shutFor().isZero()) {
      simulation.invariantChecker.evicted(view.name(), false);
      boolean opened = simulation.server.reopen(LockName.of(view.name()));
      assert opened;
    }
    List<LockParticipant> parties =
        view.holders().isEmpty() || random.nextInt(4) == 0 ? view.waiters() : view.holders();
    if (!parties.isEmpty()) {
      LockParticipant participant = parties.get(random.nextInt(parties.size()));
      simulation.invariantChecker.evicted(view.name(), how == Eviction.BREAK);
      var ended =
          simulation.server.evict(
              LockName.of(view.name()), AttemptId.parse(participant.attempt()), how);
      assert ended != null;
    }
  }
}
