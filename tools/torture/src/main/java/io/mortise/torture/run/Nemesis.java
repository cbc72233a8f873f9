package io.mortise.torture.run;

import io.mortise.spi.time.DurationText;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.torture.history.EventKind;
import io.mortise.torture.history.HistoryChecker;
import io.mortise.torture.history.HistoryEvent;
import io.mortise.torture.history.HistoryWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Injects faults one by one, in random order, with time to recover in between. For one thread. */
final class Nemesis {
  private static final int AIMS = 500;

  /** The number of deaths in a chain. */
  private static final int DEATHS = 8;

  /** The most waiters killed until one certainly died while others held. */
  private static final int TRIES = 5;

  /** The most failures in a row to find a process to pause. */
  private static final int MISSES = 10;

  private final TorturePlan plan;
  private final TortureEnvironment tortureEnvironment;
  private final ResourceServer resource;
  private final List<ContenderProcess> clients;
  private final List<ContenderProcess> waiters;
  private final Consumer<ContenderProcess> replace;
  private final HistoryWriter history;
  private final Consumer<String> tell;
  private final Random random;
  private int pauses;
  private int missed;
  private int done;

  /**
   * @param clients the present ones
   * @param waiters the present ones that only wait in queues
   * @param replace cleans up a killed client, and starts another in its place
   * @param tell receives progress
   */
  Nemesis(
      TorturePlan plan,
      TortureEnvironment tortureEnvironment,
      ResourceServer resource,
      List<ContenderProcess> clients,
      List<ContenderProcess> waiters,
      Consumer<ContenderProcess> replace,
      HistoryWriter history,
      Consumer<String> tell) {
    this.plan = plan;
    this.tortureEnvironment = tortureEnvironment;
    this.resource = resource;
    this.clients = clients;
    this.waiters = waiters;
    this.replace = replace;
    this.history = history;
    this.tell = tell;
    this.random = new Random(plan.seed());
  }

  /** Injects faults until the time is over. Every injected fault is healed. */
  void injectFaults(long deadline) throws InterruptedException {
    // Once for each control.
    List<InjectedFault> left = new ArrayList<>(List.of(InjectedFault.PAUSE, InjectedFault.PAUSE));
    if (plan.faults().contains(InjectedFault.KILL_WAITER)) {
      left.add(InjectedFault.KILL_WAITER);
    }
    int least = left.size();
    while (done < least || System.nanoTime() - deadline < 0) {
      if (left.isEmpty()) {
        plan.faults().stream()
            .filter(tortureEnvironment.faults()::contains)
            .sorted()
            .forEach(left::add);
        Collections.shuffle(left, random);
        if (done > least) {
          // A time without faults, for promises that are judged only then.
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

  private void strike(InjectedFault injectedFault) throws InterruptedException {
    if (injectedFault.isOnWaiter()) {
      killWaiters(injectedFault, injectedFault == InjectedFault.KILL_CHAIN ? DEATHS : TRIES);
      return;
    }
    Duration overlong = plan.overlong();
    ContenderProcess target = injectedFault.isOnClient() ? target(injectedFault) : null;
    if (injectedFault.isOnClient() && target == null) {
      miss(injectedFault);
      return;
    }
    missed = 0;
    begin(injectedFault, target);
    if (target == null) {
      tortureEnvironment.site().harm(injectedFault, overlong, outage(injectedFault, 0));
    } else if (injectedFault == InjectedFault.PAUSE) {
      rest(overlong);
      target.resume();
    } else if (injectedFault == InjectedFault.FULL_GC) {
      Duration took = target.collect();
      tell.accept("  it stood still for " + DurationText.format(took));
    } else if (injectedFault == InjectedFault.KILL) {
      history.add(HistoryEvent.ofRun(System.nanoTime(), EventKind.KILLED, target.number(), "-"));
      target.kill();
      rest(overlong);
      replace.accept(target);
    } else {
      spoil(injectedFault, target, overlong);
    }
    history.add(
        HistoryEvent.ofRun(
            System.nanoTime(),
            EventKind.HEALED,
            target == null ? 0 : target.number(),
            injectedFault.label()));
    done++;
  }

  private void miss(InjectedFault injectedFault) {
    tell.accept("nobody held for long enough: no " + injectedFault.label());
    if (++missed == MISSES) {
      throw new IllegalStateException("Nobody holds a lock for long enough.");
    }
  }

  /**
   * Kills waiters one by one, and replaces each at once. One waiter is enough if the turn in the
   * naive queue did not change meanwhile.
   */
  private void killWaiters(InjectedFault injectedFault, int deaths) throws InterruptedException {
    tell.accept(injectedFault.text());
    for (int i = 0; i < deaths; i++) {
      long next = System.nanoTime() + plan.ttl().toNanos() * 13 / 20;
      ContenderProcess target =
          injectedFault == InjectedFault.KILL_WAITER
              ? waiterOnly()
              : waiters.get(random.nextInt(waiters.size()));
      if (target == null) {
        miss(injectedFault);
        return;
      }
      history.add(
          HistoryEvent.ofRun(
              System.nanoTime(), EventKind.FAULT, target.number(), injectedFault.label()));
      history.add(HistoryEvent.ofRun(System.nanoTime(), EventKind.KILLED, target.number(), "-"));
      int before = resource.inside(HistoryChecker.NAIVE_QUEUE + 0);
      target.kill();
      history.add(
          HistoryEvent.ofRun(
              System.nanoTime(), EventKind.HEALED, target.number(), injectedFault.label()));
      boolean meanwhileHeld =
          before != 0
              && before / HistoryEvent.PROCESS != target.number()
              && before == resource.inside(HistoryChecker.NAIVE_QUEUE + 0);
      replace.accept(target);
      if (injectedFault == InjectedFault.KILL_WAITER && meanwhileHeld) {
        break;
      }
      rest(Duration.ofNanos(Math.max(0, next - System.nanoTime())));
    }
    missed = 0;
    done++;
  }

  /**
   * Returns the oldest process that waits while others hold: it has waited long enough for the
   * store to know its connection. Null if there is no holder for a while.
   */
  private @Nullable ContenderProcess waiterOnly() throws InterruptedException {
    for (int aim = 0; aim < AIMS; aim++) {
      int holder = resource.inside(HistoryChecker.QUEUE + 0) / HistoryEvent.PROCESS;
      int naive = resource.inside(HistoryChecker.NAIVE_QUEUE + 0) / HistoryEvent.PROCESS;
      // A worker that died inside is shown until another one enters.
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

  private StoreDeployment.OutageListener outage(InjectedFault injectedFault, int process) {
    return new StoreDeployment.OutageListener() {
      @Override
      public void begins() {
        history.add(
            HistoryEvent.ofRun(System.nanoTime(), EventKind.DOWN, process, injectedFault.label()));
      }

      @Override
      public void ends() {
        history.add(
            HistoryEvent.ofRun(System.nanoTime(), EventKind.UP, process, injectedFault.label()));
      }
    };
  }

  private void begin(InjectedFault injectedFault, @Nullable ContenderProcess target) {
    int process = target == null ? 0 : target.number();
    history.add(
        HistoryEvent.ofRun(System.nanoTime(), EventKind.FAULT, process, injectedFault.label()));
    tell.accept(injectedFault.text() + (target == null ? "" : ": client " + process));
  }

  /**
   * Chooses the victim of a fault. If it is to be paused or killed, it is paused already; null if
   * there is none.
   */
  private @Nullable ContenderProcess target(InjectedFault injectedFault)
      throws InterruptedException {
    if (injectedFault == InjectedFault.PAUSE) {
      String[] locks = {HistoryChecker.NAIVE + 0, HistoryChecker.OPEN + 0, Contender.HOT + 0};
      return stopInside(locks[pauses++ % locks.length]);
    } else if (injectedFault == InjectedFault.KILL) {
      return stopInside((random.nextBoolean() ? HistoryChecker.OPEN : Contender.HOT) + 0);
    }
    ContenderProcess target = clients.get(random.nextInt(clients.size()));
    if (injectedFault == InjectedFault.FULL_GC) {
      target.fill(plan.overlong());
      awaitInside(target);
    }
    return target;
  }

  /** Waits until a worker of the process is between its read and write, which takes a while. */
  private void awaitInside(ContenderProcess target) throws InterruptedException {
    for (int aim = 0; aim < AIMS; aim++) {
      if (resource.inside(HistoryChecker.OPEN + 0) / HistoryEvent.PROCESS == target.number()) {
        return;
      }
      rest(Duration.ofMillis(10));
    }
  }

  /**
   * Pauses a process while one of its workers is certainly between its read and write; null if
   * there is none for a while.
   */
  private @Nullable ContenderProcess stopInside(String lock) throws InterruptedException {
    for (int aim = 0; aim < AIMS; aim++) {
      int worker = resource.inside(lock);
      for (ContenderProcess client : clients) {
        if (client.number() == worker / HistoryEvent.PROCESS) {
          client.pause();
          // Lets its messages in flight arrive.
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

  private void spoil(InjectedFault injectedFault, ContenderProcess target, Duration time)
      throws InterruptedException {
    List<FaultInjectionProxy> faultInjectionProxies = target.relays();
    switch (injectedFault) {
      case RESET -> faultInjectionProxies.forEach(FaultInjectionProxy::reset);
      case HALF_OPEN -> {
        faultInjectionProxies.forEach(FaultInjectionProxy::halfOpen);
        rest(time);
      }
      case SLOW ->
          condition(faultInjectionProxies, FaultInjectionProxy.NetworkCondition.SLOW, time);
      case CUT_OFF -> {
        StoreDeployment.OutageListener outageListener = outage(injectedFault, target.number());
        faultInjectionProxies.forEach(
            relay -> relay.condition(FaultInjectionProxy.NetworkCondition.FROZEN));
        outageListener.begins();
        rest(time);
        outageListener.ends();
        faultInjectionProxies.forEach(
            relay -> relay.condition(FaultInjectionProxy.NetworkCondition.FAIR));
      }
      case LOST_REPLIES ->
          condition(
              faultInjectionProxies,
              FaultInjectionProxy.NetworkCondition.MUTE,
              plan.ttl().dividedBy(2));
      case LOST_REQUESTS ->
          condition(
              faultInjectionProxies,
              FaultInjectionProxy.NetworkCondition.DEAF,
              plan.ttl().dividedBy(2));
      default -> throw new IllegalArgumentException(injectedFault.label());
    }
  }

  private static void condition(
      List<FaultInjectionProxy> faultInjectionProxies,
      FaultInjectionProxy.NetworkCondition bad,
      Duration time)
      throws InterruptedException {
    faultInjectionProxies.forEach(relay -> relay.condition(bad));
    rest(time);
    faultInjectionProxies.forEach(
        relay -> relay.condition(FaultInjectionProxy.NetworkCondition.FAIR));
  }
}
