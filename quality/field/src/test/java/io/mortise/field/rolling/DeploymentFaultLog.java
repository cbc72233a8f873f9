package io.mortise.field.rolling;

import io.mortise.field.rolling.DeploymentFault.Scope;
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

  /** The first statement after a pause may come without a look at the lease. */
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

  /** Something that is done to the deployment. */
  interface Harm {
    /** Does it. Blocks until it is undone. */
    void happen() throws Exception;
  }

  /** Lets a fault happen, and records its window. */
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

  /** Records when this machine stands still. Runs until it is interrupted. */
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

  /** Whether nothing at all was wrong. */
  boolean isCalm(long from, long until) {
    return none(from, until, recovery, each -> true);
  }

  /** Whether others at most were asked to end. */
  boolean isOrderly(String instance, long from, long until) {
    return none(from, until, recovery, each -> !each.fault().isAnnounced() || each.harms(instance));
  }

  /** Whether neither an instance nor the servers were harmed. */
  boolean isSpared(String instance, long from, long until) {
    return none(
        from,
        until,
        recovery,
        each -> each.fault().scope() == Scope.SERVERS || each.harms(instance));
  }

  /**
   * Whether the work of an instance or host can be judged: it did not stand still in that time.
   *
   * @param local whether the work shows on the host itself, so that no network delays it
   */
  boolean isPunctual(String instance, long from, long until, boolean local) {
    return none(
        from,
        until,
        THAW,
        each ->
            each.harms(instance)
                && (!local
                    || each.fault() == DeploymentFault.FREEZE
                    || each.fault() == DeploymentFault.STALL));
  }

  /**
   * Until when a lock that was held while nothing was wrong is surely kept from others, whatever
   * became of its holder.
   *
   * @param from when it was held
   * @param rest of a session's validity that no fault can take
   * @param forgetful whether a failover frees locks
   */
  long keptUntil(String instance, long from, long rest, boolean forgetful) {
    return windows.stream()
        .filter(each -> each.from() > from)
        .filter(each -> each.fault().scope() == Scope.SERVERS || each.harms(instance))
        .mapToLong(
            each ->
                each.fault().mayEndWork() || (forgetful && each.fault() == DeploymentFault.FAILOVER)
                    ? each.from()
                    : each.from() + rest)
        .min()
        .orElse(Long.MAX_VALUE);
  }

  /** Whether nothing was done to an instance, its host or the machine. */
  boolean isUnharmed(String instance, long from, long until) {
    return none(from, until, recovery, each -> each.harms(instance));
  }

  /** Whether at most the servers were harmed, or instances asked to end. */
  boolean isOfServers(long from, long until) {
    return none(
        from,
        until,
        recovery,
        each -> each.fault().scope() != Scope.SERVERS && !each.fault().isAnnounced());
  }

  /** The end of the last recovery that a time touches; 0 if it touches none. */
  long recovered(long from, long until) {
    return windows.stream()
        .filter(each -> each.touches(from, until, recovery))
        .mapToLong(each -> each.until() + recovery)
        .max()
        .orElse(0);
  }

  boolean isWithoutFailover(long from, long until) {
    return none(from, until, recovery, each -> each.fault() == DeploymentFault.FAILOVER);
  }
}
