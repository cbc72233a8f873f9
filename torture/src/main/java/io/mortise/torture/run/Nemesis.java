package io.mortise.torture.run;

import io.mortise.testkit.server.Relay;
import io.mortise.torture.history.Checker;
import io.mortise.torture.history.Event;
import io.mortise.torture.history.HistoryFile;
import io.mortise.torture.history.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
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

  private final Plan plan;
  private final Arena arena;
  private final Resource resource;
  private final List<ContenderProcess> clients;
  private final Consumer<ContenderProcess> replace;
  private final HistoryFile history;
  private final Consumer<String> tell;
  private final Random random;
  private int pauses;
  private int done;

  /**
   * @param clients those that are there now
   * @param replace ends a client that was killed, and starts another in its place
   * @param tell hears what happens
   */
  Nemesis(
      Plan plan,
      Arena arena,
      Resource resource,
      List<ContenderProcess> clients,
      Consumer<ContenderProcess> replace,
      HistoryFile history,
      Consumer<String> tell) {
    this.plan = plan;
    this.arena = arena;
    this.resource = resource;
    this.clients = clients;
    this.replace = replace;
    this.history = history;
    this.tell = tell;
    this.random = new Random(plan.seed());
  }

  /** Lets things go wrong until the time is over. Every fault that is begun is healed. */
  void rage(long deadline) throws InterruptedException {
    // Once for each control.
    List<Fault> left = new ArrayList<>(List.of(Fault.PAUSE, Fault.PAUSE));
    while (done < 2 || System.nanoTime() - deadline < 0) {
      if (left.isEmpty()) {
        plan.faults().stream().filter(arena.faults()::contains).sorted().forEach(left::add);
        Collections.shuffle(left, random);
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
    Duration overlong = plan.ttl().multipliedBy(5).dividedBy(2);
    ContenderProcess target = fault.isOnClient() ? target(fault) : null;
    begin(fault, target);
    if (target == null) {
      harm(fault, overlong);
    } else if (fault == Fault.PAUSE) {
      rest(overlong);
      target.resume();
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

  private void begin(Fault fault, @Nullable ContenderProcess target) {
    int process = target == null ? 0 : target.number();
    history.add(Event.ofRun(System.nanoTime(), Kind.FAULT, process, fault.label()));
    tell.accept(fault.text() + (target == null ? "" : ": client " + process));
  }

  /** Who is to suffer. One that is to be stopped or killed stands still already. */
  private ContenderProcess target(Fault fault) throws InterruptedException {
    if (fault == Fault.PAUSE) {
      String[] locks = {Checker.NAIVE + 0, Checker.OPEN + 0, Contender.HOT + 0};
      return stopInside(locks[pauses++ % locks.length]);
    } else if (fault == Fault.KILL) {
      return stopInside((random.nextBoolean() ? Checker.OPEN : Contender.HOT) + 0);
    }
    return clients.get(random.nextInt(clients.size()));
  }

  /** Stops a process while one of its workers is surely between its reading and its writing. */
  private ContenderProcess stopInside(String lock) throws InterruptedException {
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
    throw new IllegalStateException("Nobody holds lock '" + lock + "' for long enough.");
  }

  private void spoil(Fault fault, ContenderProcess target, Duration time)
      throws InterruptedException {
    Relay relay = target.relay();
    if (relay == null) {
      throw new IllegalStateException("The client has no relay.");
    }
    if (fault == Fault.RESET) {
      relay.reset();
      return;
    }
    relay.weather(
        switch (fault) {
          case SLOW -> Relay.Weather.SLOW;
          case CUT_OFF -> Relay.Weather.FROZEN;
          case LOST_REPLIES -> Relay.Weather.MUTE;
          default -> throw new IllegalArgumentException(fault.label());
        });
    rest(fault == Fault.LOST_REPLIES ? plan.ttl().dividedBy(2) : time);
    relay.weather(Relay.Weather.FAIR);
  }

  private void harm(Fault fault, Duration time) throws InterruptedException {
    switch (fault) {
      case SERVER_PAUSE -> {
        arena.pause();
        rest(time);
        arena.resume();
      }
      case SERVER_CRASH -> arena.crash();
      case FORGET -> arena.forget();
      case PUSH_LOSS -> arena.losePushes();
      default -> throw new IllegalArgumentException(fault.label());
    }
  }
}
