package io.mortise.torture.run;

import io.mortise.testkit.server.Relay;
import io.mortise.torture.history.Checker;
import io.mortise.torture.history.Event;
import io.mortise.torture.history.HistoryFile;
import io.mortise.torture.history.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Lets one fault happen after the other, in random order, with time to recover in between. For one
 * thread.
 */
final class Nemesis {
  private static final int AIMS = 500;

  /** In a chain of deaths. */
  private static final int DEATHS = 8;

  /** So many waiters are killed at most until one surely died while others held. */
  private static final int TRIES = 5;

  /** So often in a row it may find nobody to stop. */
  private static final int MISSES = 10;

  private final Plan plan;
  private final Arena arena;
  private final Resource resource;
  private final List<ContenderProcess> clients;
  private final List<ContenderProcess> waiters;
  private final Consumer<ContenderProcess> replace;
  private final HistoryFile history;
  private final Consumer<String> tell;
  private final Random random;
  private int pauses;
  private int missed;
  private int done;

  /**
   * @param clients those that are there now
   * @param waiters the same of those that only stand in queues
   * @param replace ends a client that was killed, and starts another in its place
   * @param tell hears what happens
   */
  Nemesis(
      Plan plan,
      Arena arena,
      Resource resource,
      List<ContenderProcess> clients,
      List<ContenderProcess> waiters,
      Consumer<ContenderProcess> replace,
      HistoryFile history,
      Consumer<String> tell) {
    this.plan = plan;
    this.arena = arena;
    this.resource = resource;
    this.clients = clients;
    this.waiters = waiters;
    this.replace = replace;
    this.history = history;
    this.tell = tell;
    this.random = new Random(plan.seed());
  }

  /** Lets things go wrong until the time is over. Every fault that is begun is healed. */
  void rage(long deadline) throws InterruptedException {
    // Once for each control.
    List<Fault> left = new ArrayList<>(List.of(Fault.PAUSE, Fault.PAUSE));
    if (plan.faults().contains(Fault.KILL_WAITER)) {
      left.add(Fault.KILL_WAITER);
    }
    int least = left.size();
    while (done < least || System.nanoTime() - deadline < 0) {
      if (left.isEmpty()) {
        plan.faults().stream().filter(arena.faults()::contains).sorted().forEach(left::add);
        Collections.shuffle(left, random);
        if (done > least) {
          // A while in which what is judged only while nothing is wrong can be seen.
          rest(plan.patience().multipliedBy(2));
        }
      }
      strike(left.remove(0));
      rest(plan.ttl().multipliedBy(2));
    }
  }

  int faultsDone() {
    return done;
  }

  private static void rest(Duration time) throws InterruptedException {
    Thread.sleep(time.toMillis());
  }

  private void strike(Fault fault) throws InterruptedException {
    if (fault.isOnWaiter()) {
      killWaiters(fault, fault == Fault.KILL_CHAIN ? DEATHS : TRIES);
      return;
    }
    Duration overlong = plan.overlong();
    ContenderProcess target = fault.isOnClient() ? target(fault) : null;
    if (fault.isOnClient() && target == null) {
      miss(fault);
      return;
    }
    missed = 0;
    begin(fault, target);
    if (target == null) {
      arena.site().harm(fault, overlong, outage(fault, 0));
    } else if (fault == Fault.PAUSE) {
      rest(overlong);
      target.resume();
    } else if (fault == Fault.FULL_GC) {
      Duration took = target.collect();
      tell.accept("  it stood still for " + took.toMillis() + " ms");
    } else if (fault == Fault.KILL) {
      history.add(Event.ofRun(System.nanoTime(), Kind.KILLED, target.number(), "-"));
      target.kill();
      rest(overlong);
      replace.accept(target);
    } else {
      spoil(fault, target, overlong);
    }
    history.add(
        Event.ofRun(
            System.nanoTime(), Kind.HEALED, target == null ? 0 : target.number(), fault.label()));
    done++;
  }

  private void miss(Fault fault) {
    tell.accept("nobody held for long enough: no " + fault.label());
    if (++missed == MISSES) {
      throw new IllegalStateException("Nobody holds a lock for long enough.");
    }
  }

  /**
   * Kills one after the other; another takes the place of each at once. Of those that only wait one
   * is enough, if the same worker was in the naive queue's turn before and after.
   */
  private void killWaiters(Fault fault, int deaths) throws InterruptedException {
    tell.accept(fault.text());
    for (int i = 0; i < deaths; i++) {
      long next = System.nanoTime() + plan.ttl().toNanos() * 13 / 20;
      ContenderProcess target =
          fault == Fault.KILL_WAITER ? waiterOnly() : waiters.get(random.nextInt(waiters.size()));
      if (target == null) {
        miss(fault);
        return;
      }
      history.add(Event.ofRun(System.nanoTime(), Kind.FAULT, target.number(), fault.label()));
      history.add(Event.ofRun(System.nanoTime(), Kind.KILLED, target.number(), "-"));
      int before = resource.inside(Checker.NAIVE_QUEUE + 0);
      target.kill();
      history.add(Event.ofRun(System.nanoTime(), Kind.HEALED, target.number(), fault.label()));
      boolean meanwhileHeld =
          before != 0
              && before / Event.PROCESS != target.number()
              && before == resource.inside(Checker.NAIVE_QUEUE + 0);
      replace.accept(target);
      if (fault == Fault.KILL_WAITER && meanwhileHeld) {
        break;
      }
      rest(Duration.ofNanos(Math.max(0, next - System.nanoTime())));
    }
    missed = 0;
    done++;
  }

  /**
   * One that waits while others hold, the eldest: it has waited for so long that the store knows
   * its connection. Null if nobody holds for a while.
   */
  private @Nullable ContenderProcess waiterOnly() throws InterruptedException {
    for (int aim = 0; aim < AIMS; aim++) {
      int holder = resource.inside(Checker.QUEUE + 0) / Event.PROCESS;
      int naive = resource.inside(Checker.NAIVE_QUEUE + 0) / Event.PROCESS;
      // One that died inside is there until another comes.
      if (isThere(holder) && isThere(naive)) {
        return waiters.stream()
            .filter(waiter -> waiter.number() != holder && waiter.number() != naive)
            .min(Comparator.comparingInt(ContenderProcess::number))
            .orElse(null);
      }
      rest(Duration.ofMillis(10));
    }
    return null;
  }

  private boolean isThere(int process) {
    return waiters.stream().anyMatch(waiter -> waiter.number() == process);
  }

  private Site.Outage outage(Fault fault, int process) {
    return new Site.Outage() {
      @Override
      public void begins() {
        history.add(Event.ofRun(System.nanoTime(), Kind.DOWN, process, fault.label()));
      }

      @Override
      public void ends() {
        history.add(Event.ofRun(System.nanoTime(), Kind.UP, process, fault.label()));
      }
    };
  }

  private void begin(Fault fault, @Nullable ContenderProcess target) {
    int process = target == null ? 0 : target.number();
    history.add(Event.ofRun(System.nanoTime(), Kind.FAULT, process, fault.label()));
    tell.accept(fault.text() + (target == null ? "" : ": client " + process));
  }

  /**
   * Who is to suffer. One that is to be stopped or killed stands still already, if there is one.
   */
  private @Nullable ContenderProcess target(Fault fault) throws InterruptedException {
    if (fault == Fault.PAUSE) {
      String[] locks = {Checker.NAIVE + 0, Checker.OPEN + 0, Contender.HOT + 0};
      return stopInside(locks[pauses++ % locks.length]);
    } else if (fault == Fault.KILL) {
      return stopInside((random.nextBoolean() ? Checker.OPEN : Contender.HOT) + 0);
    }
    ContenderProcess target = clients.get(random.nextInt(clients.size()));
    if (fault == Fault.FULL_GC) {
      target.fill(plan.overlong());
      awaitInside(target);
    }
    return target;
  }

  /** Waits until a worker of it is between its reading and its writing, which takes a while. */
  private void awaitInside(ContenderProcess target) throws InterruptedException {
    for (int aim = 0; aim < AIMS; aim++) {
      if (resource.inside(Checker.OPEN + 0) / Event.PROCESS == target.number()) {
        return;
      }
      rest(Duration.ofMillis(10));
    }
  }

  /**
   * Stops a process while one of its workers is surely between its reading and its writing; null if
   * there is none for a while.
   */
  private @Nullable ContenderProcess stopInside(String lock) throws InterruptedException {
    for (int aim = 0; aim < AIMS; aim++) {
      int worker = resource.inside(lock);
      for (ContenderProcess client : clients) {
        if (client.number() == worker / Event.PROCESS) {
          client.pause();
          // What it had sent has arrived by then.
          rest(Duration.ofMillis(50));
          if (resource.inside(lock) == worker) {
            return client;
          }
          client.resume();
        }
      }
      rest(Duration.ofMillis(20));
    }
    return null;
  }

  private void spoil(Fault fault, ContenderProcess target, Duration time)
      throws InterruptedException {
    List<Relay> relays = target.relays();
    switch (fault) {
      case RESET -> relays.forEach(Relay::reset);
      case HALF_OPEN -> {
        relays.forEach(Relay::halfOpen);
        rest(time);
      }
      case SLOW -> weather(relays, Relay.Weather.SLOW, time);
      case CUT_OFF -> {
        Site.Outage outage = outage(fault, target.number());
        relays.forEach(relay -> relay.weather(Relay.Weather.FROZEN));
        outage.begins();
        rest(time);
        outage.ends();
        relays.forEach(relay -> relay.weather(Relay.Weather.FAIR));
      }
      case LOST_REPLIES -> weather(relays, Relay.Weather.MUTE, plan.ttl().dividedBy(2));
      case LOST_REQUESTS -> weather(relays, Relay.Weather.DEAF, plan.ttl().dividedBy(2));
      default -> throw new IllegalArgumentException(fault.label());
    }
  }

  private static void weather(List<Relay> relays, Relay.Weather bad, Duration time)
      throws InterruptedException {
    relays.forEach(relay -> relay.weather(bad));
    rest(time);
    relays.forEach(relay -> relay.weather(Relay.Weather.FAIR));
  }
}
