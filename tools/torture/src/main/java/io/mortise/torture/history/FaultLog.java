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

/** What went wrong when, and what that excuses. Takes events in; for one thread. */
final class FaultLog {
  /** After a store was lost it may take this much longer than a TTL: sessions are opened anew. */
  private static final long ANEW = 500_000_000;

  /**
   * A fault from its beginning to its end.
   *
   * @param process to which it was done; 0 for the store
   */
  record FaultInterval(String fault, int process, long from, long until, FaultEffect effect) {
    /** Whether it may keep this process from what it wants of the store. */
    boolean touches(int other) {
      return process == 0 || process == other || effect.delay() == DelayBound.STORE;
    }
  }

  /** A time in which the host ran nothing of a process; 0 is the run itself. */
  private record ProcessStall(int process, long from, long until) {}

  /** What takes less than this part of a TTL nobody writes down. */
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
   * @param expiry after how long without a word of a process its locks are free at the latest
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

  /** When the last fault was over; {@code Long.MIN_VALUE} if there was none. */
  long healed() {
    return healed;
  }

  /** For how long the host ran nothing of some process, in all. */
  long stalledNanos() {
    return stalled;
  }

  /** Leases that were lost though no fault was near: the host ran their server too seldom. */
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

  /** Whether nothing was wrong, nor had its end less than a TTL before. */
  boolean isCalm(long from, long until) {
    return spans.stream()
            .noneMatch(span -> span.from <= until && from <= span.until + expiry + patience)
        && processStalls.stream()
            .noneMatch(processStall -> processStall.from <= until && from <= processStall.until)
        && unexplained().stream()
            .noneMatch(loss -> loss.nanos() >= from - ttl && loss.nanos() <= until + ttl);
  }

  /** The fault that explains why a promise was broken then, if the table says that it may. */
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

  /** The latest fault until then that has set tokens back; null if there was none. */
  @Nullable FaultInterval tokensSetBack(long nanos) {
    return spans.stream()
        .filter(span -> span.effect.setsTokensBack() && span.from <= nanos)
        .max(Comparator.comparingLong(FaultInterval::from))
        .orElse(null);
  }

  /** Whether all that this process asked for in this time could not be answered by the store. */
  boolean isOutage(int process, long from, long until) {
    return outages.stream()
        .anyMatch(
            outage ->
                (outage.process == 0 || outage.process == process)
                    && outage.from <= from
                    && until <= outage.until);
  }

  /** When a process fell silent between two moments, if it did; else the second one. */
  long silentSince(int process, long from, long until) {
    return ofProcess.getOrDefault(process, List.of()).stream()
        .filter(span -> process != 0 && span.effect.isSilence())
        .filter(span -> from < span.from && span.from < until)
        .mapToLong(FaultInterval::from)
        .min()
        .orElse(until);
  }

  /** Whether something was done to the process in this time. */
  boolean suffered(int process, long from, long until) {
    return process != 0
        && ofProcess.getOrDefault(process, List.of()).stream()
            .anyMatch(span -> span.from <= until && from <= span.until);
  }

  /**
   * When all was over that was done to the process, or to the store, in this time, also if that is
   * known only by leases that the process lost then; {@code Long.MIN_VALUE} if nothing was.
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
            // A worker looks now and then whether it still holds.
            .filter(nanos -> from <= nanos && nanos <= until + ttl / 3);
    return LongStream.concat(faults, lost).max().orElse(Long.MIN_VALUE);
  }

  /** Until when a lock that somebody wants may stay shut, and by which rule. */
  record WaitBound(SafetyRule rule, long nanos) {}

  /**
   * @param from since when somebody waits and nobody holds
   * @param until when somebody held
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
   * When the locks of a process that is not heard of are free. Where it takes longer than a TTL,
   * because others have to watch it, one that comes late begins to watch then.
   */
  private long silent(long from, long since) {
    return Math.max(from + Math.max(ttl / 3, expiry - ttl), since + expiry) + patience;
  }

  private long excused(long from, long until) {
    long excused = 0;
    for (ProcessStall processStall : processStalls) {
      long both = Math.min(until, processStall.until) - Math.max(from, processStall.from);
      // One that was made by a fault excuses nobody else.
      if (both > 0 && !suffered(processStall.process, processStall.from, processStall.until)) {
        excused += both;
      }
    }
    return excused;
  }

  /** The same for a lock in whose queue processes stand that hold nothing else, and die. */
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

  /** Deaths of those that stand in queues, in their order. */
  private Stream<FaultInterval> deaths() {
    return spans.stream().filter(span -> span.effect.isOfWaiter());
  }

  /**
   * The bound where none of those that died lately can have held: all were dead before somebody
   * else gave the lock back. Null if one may have held, or if nobody died so lately that it may
   * stand in the queue still.
   *
   * @param notice how long before that they must have died, for the store to have seen it
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
    // However patient: a dead one is waited for up to a TTL, and that must not pass.
    long latest = handoffGap.from() + Math.min(patience, ttl / 2);
    return some
        ? new WaitBound(
            SafetyRule.KILLED_WAITER, latest + excused(handoffGap.from(), handoffGap.until()))
        : null;
  }

  /**
   * Until when a lock may stay shut because of those that died in its queue; the beginning if none
   * of them can matter. One that died when the lock may have been handed to it has it for a TTL
   * more. Where a death is seen by a session's end alone, the lock may be handed to one that has
   * died since, and so on.
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
      // Before that nobody was handed what a dead one held.
      if (death.until > handoffGap.free() + 2 * ttl / 3 && death.until <= handed) {
        latest = Math.max(latest, death.until + most);
      }
    }
    return latest;
  }

  /** Until when it can be the cause of a lock's being shut. */
  private long effective(FaultInterval span) {
    return switch (span.effect.delay()) {
      case LOST_WORD, SLOW -> span.until;
      case PROCESS -> Math.max(span.until, span.from + expiry);
      case STORE -> span.until + expiry;
      case WAITER, WAITER_BY_SESSION -> span.until;
    };
  }
}
