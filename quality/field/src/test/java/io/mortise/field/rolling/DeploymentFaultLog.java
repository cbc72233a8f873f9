package io.mortise.field.rolling;

import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;

/** Windows of faults, and the checker's questions about them. Thread-safe. */
final class DeploymentFaultLog {
  private static final long STALL = 800;

  /** After a pause the first statement may precede a check of the lease. */
  private static final long THAW = 1_000;

  private final List<FaultWindow> windows = new CopyOnWriteArrayList<>();

  /** The time after a fault in which its victims recover. */
  private final long recovery;

  DeploymentFaultLog(Duration recovery) {
    this.recovery = recovery.toMillis();
  }

  static long now() {
    return Clock.systemUTC().millis();
  }

  /** An action that injects a fault. */
  interface Harm {
    /** Injects the fault. Blocks until it is healed. */
    void happen() throws Exception;
  }

  /** Injects a fault and records its window. */
  void record(DeploymentFault fault, Set<String> victims, Harm harm) throws Exception {
    long from = now();
    try {
      harm.happen();
    } finally {
      add(new FaultWindow(fault, victims, from, now()));
    }
  }

  void add(FaultWindow window) {
    windows.add(window);
  }

  /** Records pauses of this machine. Runs until it is interrupted. */
  void watchMachine() {
    long last = now();
    while (!Thread.currentThread().isInterrupted()) {
      try {
        Thread.sleep(100);
      } catch (InterruptedException e) {
        return;
      }
      if (now() - last > STALL) {
        add(new FaultWindow(DeploymentFault.STALL, Set.of(), last, now()));
      }
      last = now();
    }
  }

  List<FaultWindow> windows() {
    return new ArrayList<>(windows);
  }

  private boolean none(long from, long until, long after, Predicate<FaultWindow> which) {
    return windows.stream().filter(which).noneMatch(each -> each.touches(from, until, after));
  }

  /** Whether no fault touches that time. */
  boolean isCalm(long from, long until) {
    return none(from, until, recovery, each -> true);
  }

  /** Whether the only fault was that other instances were asked to end. */
  boolean isOrderly(String instance, long from, long until) {
    return none(from, until, recovery, each -> !each.fault().isAnnounced() || each.harms(instance));
  }

  /** Whether neither the instance nor the servers had a fault. */
  boolean isSpared(String instance, long from, long until) {
    return none(from, until, recovery, each -> each.fault().isOfServers() || each.harms(instance));
  }

  /**
   * Whether the work of an instance or host can be judged: it was neither paused nor killed in that
   * time. An instance that is asked to end keeps its locks until its work has ended.
   *
   * @param local whether the work is observed on the host, so that no network delays it
   */
  boolean isPunctual(String instance, long from, long until, boolean local) {
    return none(
        from,
        until,
        THAW,
        each ->
            each.harms(instance)
                && !each.fault().isAnnounced()
                && (!local
                    || each.fault() == DeploymentFault.FREEZE
                    || each.fault() == DeploymentFault.STALL));
  }

  /**
   * The time until which a lock, held without faults, is surely kept from others, even if its
   * holder fails.
   *
   * @param from the time at which it was held
   * @param rest of the session's validity that no fault can shorten
   * @param forgetful whether a failover frees locks
   */
  long keptUntil(String instance, long from, long rest, boolean forgetful) {
    return windows.stream()
        .filter(each -> each.from() > from)
        .filter(each -> each.fault().isOfServers() || each.harms(instance))
        .mapToLong(
            each ->
                each.fault().mayEndWork() || (forgetful && each.fault() == DeploymentFault.FAILOVER)
                    ? each.from()
                    : each.from() + rest)
        .min()
        .orElse(Long.MAX_VALUE);
  }

  /** Whether an instance, its host and the machine had no fault. */
  boolean isUnharmed(String instance, long from, long until) {
    return none(from, until, recovery, each -> each.harms(instance));
  }

  /** Whether only servers had faults, or instances were asked to end. */
  boolean isOfServers(long from, long until) {
    return none(
        from, until, recovery, each -> !each.fault().isOfServers() && !each.fault().isAnnounced());
  }

  /** The end of the last recovery that overlaps a time; 0 if none does. */
  long recovered(long from, long until) {
    return windows.stream()
        .filter(each -> each.touches(from, until, recovery))
        .mapToLong(each -> each.until() + recovery)
        .max()
        .orElse(0);
  }

  boolean isSlow(long from, long until) {
    return !none(from, until, recovery, each -> each.fault() == DeploymentFault.SLOW);
  }

  boolean isWithoutFailover(long from, long until) {
    return none(from, until, recovery, each -> each.fault() == DeploymentFault.FAILOVER);
  }
}
