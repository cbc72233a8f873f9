package io.mortise.torture.history;

import io.mortise.torture.history.FaultEffect.DelayBound;
import io.mortise.torture.history.HistoryViolation.SafetyRule;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The faults of a history, and the failures that they excuse. Consumes events; for one thread. */
final class FaultLog {
  /** The additional time beyond a TTL after the loss of a store: sessions are reopened. */
  private static final long ANEW = 500_000_000;

  /**
   * The interval of a fault.
   *
   * @param process that it affects; 0 for the store
   */
  record FaultInterval(String fault, int process, long from, long until, FaultEffect effect) {
    /** Whether it may keep this process from the store. */
    boolean touches(int other) {
      return process == 0 || process == other || effect.delay() == DelayBound.STORE;
    }
  }

  /** A time in which the host did not run a process; 0 is the run itself. */
  private record ProcessStall(int process, long from, long until) {}

  /** Stalls shorter than this fraction of a TTL are not recorded. */
  private static final int UNSEEN = 20;

  private final long ttl;
  private final long expiry;
  private final long patience;
  private final Map<String, FaultEffect> faultEffects;
  private final Map<String, HistoryEvent> open = new HashMap<>();
  private final Map<Integer, HistoryEvent> down = new HashMap<>();
  private final List<FaultInterval> spans = new ArrayList<>();
  private final Map<Integer, List<FaultInterval>> ofProcess = new HashMap<>();
  private final List<FaultInterval> outages = new ArrayList<>();
  private final List<ProcessStall> processStalls = new ArrayList<>();
  private final List<HistoryEvent> losses = new ArrayList<>();
  private @Nullable List<HistoryEvent> unexplained;
  private long healed = Long.MIN_VALUE;
  private long stalled;

  /**
   * @param expiry the longest time until the locks of a silent process are free
   */
  FaultLog(long ttl, long expiry, long patience, Map<String, FaultEffect> faultEffects) {
    this.ttl = ttl;
    this.expiry = expiry;
    this.patience = patience;
    this.faultEffects = Map.copyOf(faultEffects);
  }

  void take(HistoryEvent historyEvent) {
    switch (historyEvent.kind()) {
      case FAULT -> open.put(historyEvent.lock() + " " + historyEvent.process(), historyEvent);
      case HEALED -> {
        healed = Math.max(healed, historyEvent.nanos());
        HistoryEvent began = open.remove(historyEvent.lock() + " " + historyEvent.process());
        if (began != null) {
          FaultInterval span =
              new FaultInterval(
                  historyEvent.lock(),
                  historyEvent.process(),
                  began.nanos(),
                  historyEvent.nanos(),
                  effect(historyEvent));
          spans.add(span);
          ofProcess.computeIfAbsent(historyEvent.process(), process -> new ArrayList<>()).add(span);
        }
      }
      case DOWN -> down.put(historyEvent.process(), historyEvent);
      case UP -> {
        HistoryEvent began = down.remove(historyEvent.process());
        if (began != null) {
          outages.add(
              new FaultInterval(
                  historyEvent.lock(),
                  historyEvent.process(),
                  began.nanos(),
                  historyEvent.nanos(),
                  effect(historyEvent)));
        }
      }
      case STALLED -> {
        stalled += historyEvent.token();
        processStalls.add(
            new ProcessStall(
                historyEvent.process(),
                historyEvent.nanos() - historyEvent.token(),
                historyEvent.nanos()));
      }
      case LOST, GAVE_LOST, STALE -> losses.add(historyEvent);
      default -> throw new IllegalArgumentException("Not trouble: " + historyEvent);
    }
  }

  private FaultEffect effect(HistoryEvent historyEvent) {
    return faultEffects.getOrDefault(historyEvent.lock(), FaultEffect.of(DelayBound.STORE));
  }

  List<FaultInterval> spans() {
    return spans;
  }

  /** The end of the last fault; {@code Long.MIN_VALUE} if there was none. */
  long healed() {
    return healed;
  }

  /** The total time in which the host did not run some process. */
  long stalledNanos() {
    return stalled;
  }

  /** Leases lost without a near fault: the host ran their server too seldom. */
  List<HistoryEvent> unexplained() {
    List<HistoryEvent> found = unexplained;
    if (found == null) {
      found = new ArrayList<>();
      for (HistoryEvent loss : losses) {
        boolean near =
            spans.stream()
                .filter(span -> span.touches(loss.process()))
                .anyMatch(
                    span ->
                        span.from <= loss.nanos()
                            && loss.nanos() <= span.until + ttl + expiry + patience);
        if (!near) {
          found.add(loss);
        }
      }
      unexplained = found;
    }
    return found;
  }

  /** Whether no fault was active, or had ended less than a TTL before. */
  boolean isCalm(long from, long until) {
    return spans.stream()
            .noneMatch(span -> span.from <= until && from <= span.until + expiry + patience)
        && processStalls.stream()
            .noneMatch(processStall -> processStall.from <= until && from <= processStall.until)
        && unexplained().stream()
            .noneMatch(loss -> loss.nanos() >= from - ttl && loss.nanos() <= until + ttl);
  }

  /** The fault that explains a broken promise, if the table allows it. */
  @Nullable FaultInterval excuse(SafetyRule rule, long nanos) {
    for (FaultInterval span : spans) {
      if (span.effect.mayBreak().contains(rule)
          && span.from <= nanos
          && nanos <= span.until + 2 * ttl) {
        return span;
      }
    }
    return null;
  }

  /** The latest fault until then that set tokens back; null if there was none. */
  @Nullable FaultInterval tokensSetBack(long nanos) {
    return spans.stream()
        .filter(span -> span.effect.setsTokensBack() && span.from <= nanos)
        .max(Comparator.comparingLong(FaultInterval::from))
        .orElse(null);
  }

  /** Whether the store could answer no request of this process in this time. */
  boolean isOutage(int process, long from, long until) {
    return outages.stream()
        .anyMatch(
            outage ->
                (outage.process == 0 || outage.process == process)
                    && outage.from <= from
                    && until <= outage.until);
  }

  /** The time at which a process fell silent between two moments; the second one if it did not. */
  long silentSince(int process, long from, long until) {
    return ofProcess.getOrDefault(process, List.of()).stream()
        .filter(span -> process != 0 && span.effect.isSilence())
        .filter(span -> from < span.from && span.from < until)
        .mapToLong(FaultInterval::from)
        .min()
        .orElse(until);
  }

  /** Whether a fault hit the process in this time. */
  boolean suffered(int process, long from, long until) {
    return process != 0
        && ofProcess.getOrDefault(process, List.of()).stream()
            .anyMatch(span -> span.from <= until && from <= span.until);
  }

  /**
   * The end of all faults of the process or the store in this time, including faults known only by
   * leases that the process lost then; {@code Long.MIN_VALUE} if there was none.
   */
  long disturbedUntil(int process, long from, long until) {
    LongStream faults =
        spans.stream()
            .filter(span -> span.touches(process))
            .filter(span -> span.from <= until && from <= span.until)
            .mapToLong(FaultInterval::until);
    LongStream lost =
        unexplained().stream()
            .filter(loss -> loss.process() == process)
            .mapToLong(HistoryEvent::nanos)
            // A worker checks its lease only now and then.
            .filter(nanos -> from <= nanos && nanos <= until + ttl / 3);
    return LongStream.concat(faults, lost).max().orElse(Long.MIN_VALUE);
  }

  /** The latest time until which a wanted lock may stay taken, and the rule. */
  record WaitBound(SafetyRule rule, long nanos) {}

  /**
   * @param from the begin of the wait without a holder
   * @param until the time of the next hold
   */
  WaitBound bound(long from, long until) {
    long third = ttl / 3 + patience;
    WaitBound waitBound = new WaitBound(SafetyRule.WAKE_UP, from + third);
    for (FaultInterval span : spans) {
      if (span.effect.isOfWaiter() || until < span.from || from > effective(span)) {
        continue;
      }
      long latest =
          switch (span.effect.delay()) {
            case LOST_WORD -> Math.max(from, span.until) + third;
            case SLOW -> Math.max(from, span.from) + ttl + patience;
            case PROCESS -> silent(from, span.from);
            case STORE -> silent(from, span.until) + ANEW;
            case WAITER, WAITER_BY_SESSION -> waitBound.nanos;
          };
      if (latest >= waitBound.nanos) {
        waitBound = new WaitBound(span.effect.delay().rule, latest);
      }
    }
    for (HistoryEvent loss : unexplained()) {
      long latest = silent(from, loss.nanos());
      if (until >= loss.nanos() - ttl && from <= loss.nanos() + ttl && latest > waitBound.nanos) {
        waitBound = new WaitBound(DelayBound.PROCESS.rule, latest);
      }
    }
    return new WaitBound(waitBound.rule, waitBound.nanos + excused(from, until));
  }

  /**
   * The time at which the locks of a silent process are free. If that takes longer than a TTL,
   * because others have to observe it, a late observer starts from its arrival.
   */
  private long silent(long from, long since) {
    return Math.max(from + Math.max(ttl / 3, expiry - ttl), since + expiry) + patience;
  }

  private long excused(long from, long until) {
    long excused = 0;
    for (ProcessStall processStall : processStalls) {
      long both = Math.min(until, processStall.until) - Math.max(from, processStall.from);
      // A stall caused by a fault excuses no other process.
      if (both > 0 && !suffered(processStall.process, processStall.from, processStall.until)) {
        excused += both;
      }
    }
    return excused;
  }

  /** The bound for a lock whose queue has processes that hold nothing else, and die. */
  WaitBound bound(WaitAnalysis.HandoffGap handoffGap) {
    WaitBound waitBound = bound(handoffGap.from(), handoffGap.until());
    WaitBound afterWaiters = afterKilledWaiters(handoffGap, ttl / UNSEEN);
    if (afterWaiters != null && waitBound.rule == SafetyRule.WAKE_UP && !isJudgedBySession()) {
      return afterWaiters;
    }
    long afterDeaths = afterDeaths(handoffGap);
    return afterDeaths <= waitBound.nanos
        ? waitBound
        : new WaitBound(
            SafetyRule.QUEUE, afterDeaths + excused(handoffGap.from(), handoffGap.until()));
  }

  private boolean isJudgedBySession() {
    return deaths().anyMatch(death -> death.effect.delay() == DelayBound.WAITER_BY_SESSION);
  }

  /** Deaths of queued processes, in order. */
  private Stream<FaultInterval> deaths() {
    return spans.stream().filter(span -> span.effect.isOfWaiter());
  }

  /**
   * The bound if no recently dead process can have held the lock: all were dead before another one
   * released it. Null if one may have held, or if no death is so recent that the process may still
   * be in the queue.
   *
   * @param notice how long before the release they must have died, for the store to have noticed
   */
  @Nullable WaitBound afterKilledWaiters(WaitAnalysis.HandoffGap handoffGap, long notice) {
    boolean some = false;
    for (FaultInterval death : deaths().toList()) {
      if (death.until + notice <= handoffGap.free()) {
        some |= handoffGap.free() <= death.until + ttl;
      } else if (death.from <= handoffGap.until()) {
        return null;
      }
    }
    // Below a TTL regardless of patience: a queue that waits a TTL for dead processes must not
    // pass.
    long latest = handoffGap.from() + Math.min(patience, ttl / 2);
    return some
        ? new WaitBound(
            SafetyRule.KILLED_WAITER, latest + excused(handoffGap.from(), handoffGap.until()))
        : null;
  }

  /**
   * The time until which a lock may stay taken because of deaths in its queue; the begin if none is
   * relevant. A process that died when it may have been handed the lock keeps it for another TTL.
   * If deaths are detected by ends of sessions only, the lock may be handed to the next dead
   * process, and so on.
   */
  private long afterDeaths(WaitAnalysis.HandoffGap handoffGap) {
    long most = expiry + ANEW + patience;
    long first = handoffGap.from() + most;
    long latest = handoffGap.from();
    for (FaultInterval death :
        deaths().sorted(Comparator.comparingLong(FaultInterval::until)).toList()) {
      if (death.from > handoffGap.until() || death.until + expiry < handoffGap.free()) {
        continue;
      }
      latest = Math.max(latest, first);
      long handed = death.effect.delay() == DelayBound.WAITER_BY_SESSION ? latest : first;
      // Before that no hold of a dead process was handed on.
      if (death.until > handoffGap.free() + 2 * ttl / 3 && death.until <= handed) {
        latest = Math.max(latest, death.until + most);
      }
    }
    return latest;
  }

  /** The time until which it can be the reason that a lock stays taken. */
  private long effective(FaultInterval span) {
    return switch (span.effect.delay()) {
      case LOST_WORD, SLOW -> span.until;
      case PROCESS -> Math.max(span.until, span.from + expiry);
      case STORE -> span.until + expiry;
      case WAITER, WAITER_BY_SESSION -> span.until;
    };
  }
}
