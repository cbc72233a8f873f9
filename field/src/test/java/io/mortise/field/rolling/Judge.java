package io.mortise.field.rolling;

import io.mortise.field.rolling.CronJobs.CronRun;
import io.mortise.field.rolling.Customers.Order;
import io.mortise.field.rolling.Witness.FencedWrite;
import io.mortise.field.rolling.Witness.Work;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Tells from outside what a deployment has broken. For one thread. */
final class Judge {
  private static final int PERMITS = 2;

  /** An answer while nothing is wrong; with two cores for all. */
  private static final long CALM_MILLIS = 5_000;

  /** Exit status of {@code mortise run}: another host has it. */
  private static final int BUSY = 75;

  /** Something that may not be. */
  record Violation(long at, String text) {}

  private final FaultLog faults;
  private final boolean keepsAtLeast;
  private final boolean forgetsOnFailover;
  private final long sparedMillis;
  private final List<Violation> violations = new ArrayList<>();

  /**
   * A judge.
   *
   * @param expiry after which a dead holder's lock is free
   */
  Judge(FaultLog faults, LockServers servers, Duration expiry) {
    this.faults = faults;
    this.keepsAtLeast = servers.keepsAtLeast();
    this.forgetsOnFailover = servers.forgetsOnFailover();
    // The dead may have held the product and a permit.
    this.sparedMillis = expiry.toMillis() * 2 + CALM_MILLIS;
  }

  List<Violation> violations() {
    return List.copyOf(violations);
  }

  void add(long at, String text) {
    violations.add(new Violation(at, text));
  }

  /** What was sold and what was taken from the stock is the same. */
  void judgeStock(long sold, long taken) {
    if (sold != taken) {
      add(FaultLog.now(), sold + " were sold, and " + taken + " taken from the stock");
    }
  }

  /** Tokens of one row never fall. */
  void judgeTokens(String row, List<FencedWrite> writes) {
    long highest = Long.MIN_VALUE;
    for (FencedWrite write : writes) {
      if (write.token() < highest) {
        add(write.at(), "a stale write was let in: " + row + ", " + write.token());
      }
      highest = Math.max(highest, write.token());
    }
  }

  /** Whether whoever did it has a lock that is valid by the word of the guarantee table. */
  private boolean isAccountable(Work work) {
    boolean served = !forgetsOnFailover || faults.isServed(work.from(), work.until());
    return work.until() != 0 && served && isSparedHost(work);
  }

  /** Servers that fail take no lock from who holds it; but for those that forget. */
  private boolean isSparedHost(Work work) {
    return faults.windows().stream()
        .filter(window -> window.harms(work.who()))
        .noneMatch(window -> window.touches(work.from(), work.until(), 0));
  }

  /** At most as many at a time as may be. */
  void judgeOverlaps(String what, int most, List<Work> works) {
    List<Work> current = new ArrayList<>();
    for (Work work : works) {
      current.removeIf(earlier -> earlier.until() <= work.from());
      if (isAccountable(work)) {
        current.add(work);
        if (current.size() > most) {
          add(work.from(), what + ": " + current.size() + " at a time: " + current);
        }
      }
    }
  }

  void judgeDeliveries(List<Work> deliveries) {
    judgeOverlaps("calls of the partner", PERMITS, deliveries);
  }

  /**
   * A job that is started at ticks, in milliseconds.
   *
   * @param atLeast for how long its lock is shut, and so how late a host may be
   */
  record Schedule(String what, long period, long atLeast, Function<Work, Long> tick) {

    private boolean isInTime(Work work) {
      return work.from() - tick.apply(work) * period < atLeast;
    }
  }

  /**
   * Once for each tick, and never two at a time. Hosts that are harmed or late may run it again; so
   * may all where the store keeps no times.
   */
  void judgeTicks(Schedule schedule, List<Work> works, long from, long until) {
    judgeOverlaps(schedule.what(), 1, works);
    Map<Long, Work> done = new HashMap<>();
    for (Work work : works) {
      Work first = done.putIfAbsent(schedule.tick().apply(work), work);
      if (first != null
          && keepsAtLeast
          && schedule.isInTime(work)
          && faults.isSpared(first.who(), first.from(), work.from())
          && faults.isSpared(work.who(), first.from(), work.from())) {
        add(work.from(), schedule.what() + " ran twice at a tick: " + first + ", " + work);
      }
    }
    long period = schedule.period();
    for (long at = from / period + 1; (at + 1) * period < until; at++) {
      if (!done.containsKey(at) && faults.isCalm((at - 1) * period, (at + 1) * period)) {
        add(at * period, schedule.what() + " did not run at a tick while nothing was wrong");
      }
    }
  }

  /** Hosts tell why a job did not run. */
  void judgeCron(List<CronRun> runs) {
    for (CronRun run : runs) {
      boolean told = run.status() == 0 || run.status() == BUSY;
      if (!told && faults.isCalm(run.began(), run.began() + CronJobs.SCHEDULE.period())) {
        add(run.began(), "cron on " + run.host() + " ended with " + run.status());
      }
    }
  }

  /**
   * Who asks where nothing is wrong is served soon, and elsewhere when the dead's leases are over.
   */
  void judgeOrders(List<Order> orders) {
    for (Order order : orders) {
      long from = order.asked();
      long until = order.answered();
      long bound;
      if (faults.isOrderly(order.instance(), from, until)) {
        bound = CALM_MILLIS;
      } else if (faults.isSpared(order.instance(), from, until)) {
        bound = sparedMillis;
      } else {
        continue;
      }
      if (order.status() != 200 || order.millis() > bound) {
        add(from, order + " took " + order.millis() + " ms; " + bound + " may be");
      }
    }
  }

  void judgeGrowth(Reading first, Reading last) {
    last.growthSince(first).forEach(grown -> add(FaultLog.now(), grown));
  }
}
