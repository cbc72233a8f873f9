package io.mortise.field.rolling;

import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;

/** What was done to the deployment, and what excuses it. Thread-safe. */
final class FaultLog {
  private static final long STALL = 800;

  private final List<FaultWindow> windows = new CopyOnWriteArrayList<>();

  /** The time after a fault in which its victims recover. */
  private final long recovery;

  FaultLog(Duration recovery) {
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

  /** Lets it happen, and writes down when. */
  void record(String fault, Set<String> victims, boolean announced, Harm harm) throws Exception {
    long from = now();
    try {
      harm.happen();
    } finally {
      windows.add(new FaultWindow(fault, victims, announced, from, now()));
    }
  }

  /** Writes down when this machine stands still, which harms all. Runs until it is interrupted. */
  void watchMachine() {
    long last = now();
    while (!Thread.currentThread().isInterrupted()) {
      try {
        Thread.sleep(100);
      } catch (InterruptedException e) {
        return;
      }
      if (now() - last > STALL) {
        windows.add(new FaultWindow("machine stood still", Set.of(), false, last, now()));
      }
      last = now();
    }
  }

  List<FaultWindow> windows() {
    return new ArrayList<>(windows);
  }

  private boolean any(long from, long until, Predicate<FaultWindow> which) {
    return windows.stream().filter(which).anyMatch(each -> each.touches(from, until, recovery));
  }

  /** Whether nothing at all was wrong. */
  boolean isCalm(long from, long until) {
    return !any(from, until, each -> true);
  }

  /** Whether only ends that were announced happened, and to others. */
  boolean isOrderly(String instance, long from, long until) {
    return !any(from, until, each -> !each.announced() || each.harms(instance));
  }

  /** Whether neither an instance nor the servers were harmed. */
  boolean isSpared(String instance, long from, long until) {
    return !any(from, until, each -> each.isOfServers() || each.harms(instance));
  }

  boolean isServed(long from, long until) {
    return !any(from, until, FaultWindow::isOfServers);
  }
}
