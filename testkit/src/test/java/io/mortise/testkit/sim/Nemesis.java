package io.mortise.testkit.sim;

import io.mortise.admin.Eviction;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.LockView;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionSpec;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;

/** Lets happen, now and then, what a scenario allows and what is not the fate of one message. */
final class Nemesis {
  private final World world;
  private final Settings settings;
  private final Scenario scenario;
  private final Simulation simulation;
  private final SplittableRandom random;
  private final long pace;
  private boolean resting;

  Nemesis(World world, Settings settings, Scenario scenario, Simulation simulation) {
    this.world = world;
    this.settings = settings;
    this.scenario = scenario;
    this.simulation = simulation;
    this.random = world.random();
    this.pace = random.nextBoolean() ? settings.ttl : settings.ttl * 4;
  }

  void begin() {
    for (Fault fault : scenario.faults()) {
      if (deed(fault, false)) {
        again(fault);
      }
    }
  }

  void rest() {
    resting = true;
  }

  private void again(Fault fault) {
    world.at(
        world.now() + random.nextLong(pace),
        () -> {
          if (!resting) {
            if (!simulation.lives.isEmpty()) {
              boolean done = deed(fault, true);
              assert done;
            }
            again(fault);
          }
        });
  }

  /** Short mostly, sometimes much longer than a TTL. */
  private long span() {
    return random.nextLong(
        switch (random.nextInt(3)) {
          case 0 -> settings.ttl / 20;
          case 1 -> settings.ttl;
          default -> settings.ttl * 5 / 2;
        });
  }

  /** Does it, unless asked only whether it is one of ours. */
  private boolean deed(Fault fault, boolean now) {
    Runnable deed =
        switch (fault) {
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
          case SERVER_PAUSE -> () -> simulation.server.pauseUntil(world.now() + span());
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
      world.trace(() -> "fault: " + fault);
      deed.run();
    }
    return true;
  }

  private Life anyLife() {
    return simulation.lives.get(random.nextInt(simulation.lives.size()));
  }

  private Lane anyLane() {
    SimStore store = anyLife().store;
    return switch (random.nextInt(3)) {
      case 0 -> store.renewals;
      default -> store.requests;
    };
  }

  private void cut() {
    SimStore store = anyLife().store;
    int which = random.nextInt(1, 4);
    long until = world.now() + span();
    store.requests.cut((which & 1) != 0, (which & 2) != 0, until);
    store.renewals.cut((which & 1) != 0, (which & 2) != 0, until);
    store.pushes.cut(false, (which & 2) != 0, until);
  }

  private void disconnect() {
    Life life = anyLife();
    SessionId session = life.store.latestSession();
    if (session != null) {
      long span = span();
      life.wasDisconnected = true;
      life.store.pushes.cut(false, true, world.now() + span);
      simulation.server.connected(session, false);
      world.at(
          world.now() + span,
          () -> {
            if (life.alive) {
              simulation.server.connected(session, true);
            }
          });
    }
  }

  private void cloneOne() {
    Life life = anyLife();
    SessionId session = life.store.latestSession();
    long beat = session == null ? 0 : simulation.server.beat(session);
    if (beat != 0) {
      Duration ttl = Duration.ofNanos(life.ttl);
      renewByClone(new SessionSpec(session, ttl, new ClientLabel("sim", 1, "clone")), beat);
    }
  }

  private void renewByClone(SessionSpec spec, long beat) {
    world.at(
        world.now() + random.nextLong(settings.ttl / 3),
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
        life -> {
          life.store.requests.shatter(false);
          life.store.renewals.shatter(false);
        });
    // A restart that forgets takes longer than tokens may run ahead of the clock.
    long lasts = forgets ? 1_010 * World.MILLI + span() : span();
    world.at(
        world.now() + lasts,
        () -> {
          forgetting.run();
          simulation.server.down(false);
        });
  }

  private void evict(Eviction how) {
    List<LockView> views = simulation.server.locks();
    if (views.isEmpty()) {
      return;
    }
    LockView view = views.get(random.nextInt(views.size()));
    if (view.holders().isEmpty() && !view.closedFor().isZero()) {
      simulation.judge.evicted(view.name().value(), false);
      boolean opened = simulation.server.reopen(view.name());
      assert opened;
    }
    List<LockView.Party> parties =
        view.holders().isEmpty() || random.nextInt(4) == 0 ? view.waiters() : view.holders();
    if (!parties.isEmpty()) {
      LockView.Party party = parties.get(random.nextInt(parties.size()));
      simulation.judge.evicted(view.name().value(), how == Eviction.BREAK);
      var ended = simulation.server.evict(view.name(), party.attempt(), how);
      assert ended != null;
    }
  }
}
