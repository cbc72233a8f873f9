package io.mortise.field.rolling;

import io.mortise.field.rolling.CronJobs.CronRun;
import io.mortise.field.rolling.Customers.Order;
import io.mortise.field.rolling.ShopDatabase.FencedWrite;
import io.mortise.field.rolling.ShopDatabase.WorkInterval;
import io.mortise.spi.Mode;
import io.mortise.testkit.history.CheckedHold;
import io.mortise.testkit.history.HoldChecks;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.IntFunction;

/** Finds rule violations of a deployment, by observation from outside. For one thread. */
final class DeploymentChecker {
  private static final int PERMITS = 2;

  /** The bound of an answer without faults, with two cores for all processes. */
  private static final long CALM_MILLIS = 5_000;

  private static final long LEAST_ORDERS = 100;

  /** The status of an order that waited for too long. */
  private static final int REFUSED = 503;

  /** Far longer than any work of the shop or of the cron. */
  private static final long LONGEST_WORK_MILLIS = 15_000;

  /** The latest arrival of a statement after a fault of its host: the network retransmits it. */
  private static final long LATEST_ARRIVAL_MILLIS = 20_000;

  /** Exit status of {@code mortise run}: another host holds the lock. */
  private static final int BUSY = 75;

  record Violation(long at, String text) {}

  /**
   * The guarantees of the store.
   *
   * @param keepsAtLeast whether a lock can be shut for a time
   * @param forgetsOnFailover whether a new leader may lack grants of the former one
   * @param ttl of sessions
   * @param expiry after which a dead holder's lock is free
   */
  record Guarantee(
      boolean keepsAtLeast, boolean forgetsOnFailover, Duration ttl, Duration expiry) {}

  private final DeploymentFaultLog faults;
  private final Guarantee guarantee;
  private final long sparedMillis;

  /** A renewal each third of the TTL leaves two thirds; one of them is for delays. */
  private final long keptMillis;

  private final List<Violation> violations = new ArrayList<>();
  private int calmTicks;
  private int boundedOrders;

  DeploymentChecker(DeploymentFaultLog faults, Guarantee guarantee) {
    this.faults = faults;
    this.guarantee = guarantee;
    this.keptMillis = guarantee.ttl().toMillis() / 3;
    // A dead instance may have held the product lock and a permit.
    this.sparedMillis = guarantee.expiry().toMillis() * 2 + CALM_MILLIS;
  }

  /** The number of judged ticks. */
  int calmTicks() {
    return calmTicks;
  }

  List<Violation> violations() {
    return List.copyOf(violations);
  }

  void add(long at, String text) {
    violations.add(new Violation(at, text));
  }

  /** Checks that purchases and the stock of a product agree. */
  void judgeStock(long product, long sold, long taken) {
    if (sold != taken) {
      add(
          DeploymentFaultLog.now(),
          sold + " of product " + product + " were sold, " + taken + " taken from the stock");
    }
  }

  /** Checks that tokens of one row never fall, and that each has one instance. */
  void judgeTokens(String row, List<FencedWrite> writes) {
    Map<Long, String> owners = new HashMap<>();
    long highest = Long.MIN_VALUE;
    for (FencedWrite write : writes) {
      if (write.token() < highest) {
        add(write.at(), "a stale write was let in: " + row + ", " + write.token());
      }
      highest = Math.max(highest, write.token());
      String owner = owners.computeIfAbsent(write.token(), token -> write.who());
      if (!owner.equals(write.who())) {
        add(write.at(), "one token of two instances: " + row + ", " + owner + ", " + write);
      }
    }
    expect("writes of " + row, writes.size());
  }

  private void expect(String what, int found) {
    if (found == 0) {
      add(DeploymentFaultLog.now(), "there were no " + what);
    }
  }

  /**
   * Checks that one instance leads at a time: none writes after its successor has. A late write is
   * excused where a failover forgets grants, and on a faulty host, whose statements may be late.
   *
   * @param refused writes rejected because the row had seen a later token
   */
  void judgeLeaders(List<FencedWrite> refused) {
    for (FencedWrite write : refused) {
      long from = write.at() - LATEST_ARRIVAL_MILLIS;
      if (isAccountable(new WorkInterval(write.who(), 0, 0, from, write.at()), false)) {
        add(write.at(), "two leaders: " + write.who() + " wrote after its successor");
      }
    }
  }

  /** Whether the guarantee table promises that this worker held its lock throughout. */
  private boolean isAccountable(WorkInterval work, boolean local) {
    return work.until() != 0
        && faults.isPunctual(work.who(), work.from(), work.until(), local)
        && (!guarantee.forgetsOnFailover() || faults.isWithoutFailover(work.from(), work.until()));
  }

  /** The time until which no other worker may hold the lock of this work, ended or not. */
  private long heldUntil(WorkInterval work, boolean local) {
    if (isAccountable(work, local)) {
      return work.until();
    }
    if (!faults.isSpared(work.who(), work.from(), work.from())) {
      return work.from();
    }
    long end = work.until() == 0 ? work.from() + LONGEST_WORK_MILLIS : work.until();
    return Math.min(
        end, faults.keptUntil(work.who(), work.from(), keptMillis, guarantee.forgetsOnFailover()));
  }

  /**
   * Checks that at most so many works overlap. Works are in the order of their begin.
   *
   * @param local whether work is observed on its host, so that it has to end in a partition too
   */
  void judgeOverlaps(String what, int most, boolean local, List<WorkInterval> works) {
    List<CheckedHold<WorkInterval>> holds =
        works.stream()
            .map(
                work ->
                    new CheckedHold<>(
                        work,
                        Mode.permits(1, most),
                        work.from(),
                        work.from(),
                        heldUntil(work, local),
                        0))
            .filter(hold -> hold.until() > hold.from() || isAccountable(hold.holder(), local))
            .toList();
    HoldChecks.exclusion(
        holds,
        (hold, others) -> {
          List<WorkInterval> current = new ArrayList<>();
          others.forEach(other -> current.add(other.holder()));
          current.add(hold.holder());
          add(hold.from(), what + ": " + current.size() + " at a time: " + current);
        });
  }

  /** Checks that work ends if neither its host nor the servers had a fault: no lease was lost. */
  private void judgeEnds(String what, List<WorkInterval> works, long until) {
    for (WorkInterval work : works) {
      long latest = work.from() + LONGEST_WORK_MILLIS;
      if (work.until() == 0 && latest < until && faults.isSpared(work.who(), work.from(), latest)) {
        add(work.from(), what + " did not end: " + work);
      }
    }
  }

  void judgeDeliveries(List<WorkInterval> deliveries, long until) {
    expect("calls of the partner", deliveries.size());
    judgeOverlaps("calls of the partner", PERMITS, false, deliveries);
    judgeEnds("a call of the partner", deliveries, until);
  }

  /**
   * The schedule of a job. Times are in milliseconds.
   *
   * @param local whether it is observed on its host
   * @param atLeast how long its lock stays taken, hence how late a host may be
   */
  record Schedule(
      String what, boolean local, long period, long atLeast, Function<WorkInterval, Long> tick) {

    private boolean isInTime(WorkInterval work) {
      return work.from() - tick.apply(work) * period < atLeast;
    }
  }

  /**
   * Checks that the job runs once for each tick, and never twice at a time. Faulty or late hosts
   * may run it again; so may all hosts if the store keeps no at-least times.
   */
  void judgeTicks(Schedule schedule, List<WorkInterval> works, long from, long until) {
    judgeOverlaps(schedule.what(), 1, schedule.local(), works);
    judgeEnds(schedule.what(), works, until);
    Map<Long, List<WorkInterval>> done = new HashMap<>();
    for (WorkInterval work : works) {
      List<WorkInterval> earlier =
          done.computeIfAbsent(schedule.tick().apply(work), tick -> new ArrayList<>());
      earlier.stream()
          .filter(first -> guarantee.keepsAtLeast() && schedule.isInTime(work))
          .filter(first -> faults.isSpared(first.who(), first.from(), work.from()))
          .filter(first -> faults.isSpared(work.who(), first.from(), work.from()))
          .findFirst()
          .ifPresent(
              first ->
                  add(
                      work.from(),
                      schedule.what() + " ran twice at a tick: " + first + ", " + work));
      earlier.add(work);
    }
    long period = schedule.period();
    for (long at = from / period + 1; (at + 1) * period < until; at++) {
      long late = schedule.atLeast();
      if (faults.isCalm(at * period - late, at * period + late)) {
        calmTicks++;
        if (!done.containsKey(at)) {
          add(at * period, schedule.what() + " did not run at a tick while nothing was wrong");
        }
      }
    }
  }

  /** Checks that each run without faults ends with 0 or "busy". */
  void judgeCron(List<CronRun> runs) {
    for (CronRun run : runs) {
      boolean told = run.status() == 0 || run.status() == BUSY;
      if (!told && faults.isCalm(run.began(), run.began() + CronJobs.SCHEDULE.period())) {
        add(run.began(), "cron on " + run.host() + " ended with " + run.status());
      }
    }
  }

  /**
   * Checks the time of each order against the bound for its situation.
   *
   * @param sold the committed orders of a product, by their begin
   */
  void judgeOrders(List<Order> orders, IntFunction<List<WorkInterval>> sold) {
    for (Order order : orders) {
      long from = order.asked();
      long until = order.answered();
      if (isBehindSlowOrders(order, sold)) {
        boundedOrders++;
      } else if (faults.isOrderly(order.instance(), from, until)) {
        judgeService(order, CALM_MILLIS);
      } else if (faults.isSpared(order.instance(), from, until)) {
        judgeService(order, sparedMillis);
      } else if (faults.isUnharmed(order.instance(), from, until)) {
        long rest = faults.isOfServers(from, until) ? CALM_MILLIS : sparedMillis;
        judgeAnswer(order, faults.recovered(from, until) + rest);
      }
    }
  }

  /**
   * Whether it was refused as its product was bought all the time, while a host was slow: orders of
   * that host hold the lock for seconds.
   */
  private boolean isBehindSlowOrders(Order order, IntFunction<List<WorkInterval>> sold) {
    if (order.status() != REFUSED || !faults.isSlow(order.asked(), order.answered())) {
      return false;
    }
    long free = order.asked();
    long longest = 0;
    for (WorkInterval work : sold.apply(order.product())) {
      long begin = Math.min(work.from(), order.answered());
      longest = Math.max(longest, begin - free);
      free = Math.max(free, work.until());
    }
    return Math.max(longest, order.answered() - free) <= CALM_MILLIS;
  }

  private void judgeService(Order order, long bound) {
    boundedOrders++;
    if (order.status() != 200 || order.millis() > bound) {
      add(order.asked(), order + " took " + order.millis() + " ms; " + bound + " may be");
    }
  }

  /** While the servers recover, an order may fail, but its instance answers within the bound. */
  private void judgeAnswer(Order order, long latest) {
    if (order.status() == Customers.NONE || order.answered() > latest) {
      add(order.asked(), order + " was not answered when the servers had recovered");
    }
  }

  /** Checks that enough was judged for the run to be meaningful. */
  void judgeEffort() {
    if (boundedOrders < LEAST_ORDERS || calmTicks == 0) {
      add(
          DeploymentFaultLog.now(),
          boundedOrders + " orders and " + calmTicks + " ticks are too few");
    }
  }

  void judgeGrowth(ProcessFootprint first, ProcessFootprint last) {
    last.growthSince(first).forEach(grown -> add(DeploymentFaultLog.now(), grown));
  }
}
