package io.mortise.torture.history;

import io.mortise.torture.history.HistoryViolation.SafetyRule;
import io.mortise.torture.history.LockHistory.AcquireTrial;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Checks a history. The events of one worker arrive in order, those of different workers in any
 * order. For one thread.
 */
public final class HistoryChecker {
  /** Prefix of locks whose resource is not guarded by tokens: controls that must break. */
  public static final String OPEN = "open-";

  /** Prefix of locks that are not Mortise's: controls that must break. */
  public static final String NAIVE = "naive-";

  /** Prefix of queues that are not Mortise's and ignore deaths: controls that must break. */
  public static final String NAIVE_QUEUE = NAIVE + "queue-";

  /** Prefix of locks wanted by processes that hold nothing else, and may die. */
  public static final String QUEUE = "queue-";

  /** Prefix of locks wanted by one worker only, which may be dead. */
  public static final String OWN = "own-";

  /** Prefix of fair locks. */
  public static final String FAIR = "fair-";

  /** Prefix of locks wanted by a hundred fair waiters of each process. */
  public static final String CROWD = "crowd-";

  /**
   * Prefix of locks that stay idle with a process for {@link #IDLE} after their release, if the
   * store can call them back.
   */
  public static final String STICKY = "sticky-";

  /** The idle time of sticky locks. */
  public static final Duration IDLE = Duration.ofSeconds(5);

  /** Tries answered with busy since an idle holder did not answer in time. */
  public static final String UNANSWERED = "unanswered";

  /** Processes without a hold for 20 TTLs in which others held. */
  public static final String UNSERVED = "unserved";

  /** The most findings of a kind; more say nothing new. */
  private static final int MOST = 20;

  private static final long SECOND = 1_000_000_000;
  private static final Set<SafetyRule> AHEAD =
      EnumSet.of(
          SafetyRule.UNIQUE_TOKENS, SafetyRule.RISING_TOKENS, SafetyRule.NO_RIGHTFUL_REFUSAL);

  private final long ttlNanos;

  /** Twice the longest hold of a dead process or a failed request. */
  private final long longestHoldNanos;

  private final FaultLog faultLog;
  private final StarvationCheck starvationCheck;
  private final Map<String, LockHistory> locks = new TreeMap<>();
  private final Map<Integer, HistoryEvent> asking = new HashMap<>();
  private final Map<Integer, Long> queued = new HashMap<>();
  private final Map<Integer, ObservedHold> holding = new HashMap<>();
  private final Map<Integer, Long> killed = new HashMap<>();
  private final Map<EventKind, Long> counts = new EnumMap<>(EventKind.class);
  private final Map<String, Long> cycles = new TreeMap<>();

  /** By time, a cache: there may be many violations. */
  private final Map<Long, Long> greatestTokens = new HashMap<>();

  private final List<HistoryViolation> told = new ArrayList<>();
  private final List<HistoryViolation> findings = new ArrayList<>();
  private final Map<SafetyRule, Long> found = new EnumMap<>(SafetyRule.class);
  private final Map<String, Long> expectedViolations = new TreeMap<>();
  private final Map<SafetyRule, DelayStatistics> delays = new EnumMap<>(SafetyRule.class);

  /**
   * Creates the checker of one run.
   *
   * @param ttl of the sessions
   * @param patience the tolerance beyond promised times
   * @param faultEffects of faults, by name
   */
  public HistoryChecker(Duration ttl, Duration patience, Map<String, FaultEffect> faultEffects) {
    this(ttl, ttl, patience, faultEffects);
  }

  /**
   * The same for a store that takes longer to free holds of a dead process.
   *
   * @param expiry after how long without a word of a process its locks are free at the latest
   */
  public HistoryChecker(
      Duration ttl, Duration expiry, Duration patience, Map<String, FaultEffect> faultEffects) {
    this.ttlNanos = ttl.toNanos();
    this.longestHoldNanos = ttlNanos + expiry.toNanos();
    this.faultLog = new FaultLog(ttlNanos, expiry.toNanos(), patience.toNanos(), faultEffects);
    this.starvationCheck = new StarvationCheck(ttlNanos);
  }

  /** Consumes the next event of a worker. */
  public void take(HistoryEvent historyEvent) {
    counts.merge(historyEvent.kind(), 1L, Long::sum);
    if (historyEvent.attempt() > 0 && !historyEvent.lock().startsWith(NAIVE)) {
      starvationCheck.take(historyEvent);
    }
    switch (historyEvent.kind()) {
      case LOST -> faultLog.take(historyEvent);
      case FAULT, HEALED, DOWN, UP, STALLED -> faultLog.take(historyEvent);
      case KILLED -> killed.put(historyEvent.process(), historyEvent.nanos());
      case ASKS -> asking.put(historyEvent.worker(), historyEvent);
      case QUEUED -> queued.put(historyEvent.worker(), historyEvent.nanos());
      case HOLDS -> {
        ObservedHold observedHold = new ObservedHold(historyEvent, over(historyEvent));
        lock(historyEvent).observedHolds.add(observedHold);
        holding.put(historyEvent.worker(), observedHold);
      }
      case STALE -> {
        faultLog.take(historyEvent);
        over(historyEvent);
      }
      case OUTAGE, TIMED_OUT, BUSY -> over(historyEvent);
      case SURE -> {
        ObservedHold observedHold = hold(historyEvent);
        if (observedHold != null) {
          observedHold.sure = Math.max(observedHold.sure, historyEvent.nanos());
        }
      }
      case GAVE -> gave(historyEvent, 0);
      // In the store it may continue until its loss is noticed there.
      case GAVE_LOST -> {
        faultLog.take(historyEvent);
        gave(historyEvent, longestHoldNanos);
      }
      case WROTE -> lock(historyEvent).wrote();
      case REFUSED -> lock(historyEvent).refused(historyEvent);
      case FINAL -> lock(historyEvent).finalValue(historyEvent);
      case LEFT -> lock(historyEvent).left(historyEvent);
      case CYCLES -> cycles.merge(historyEvent.lock(), historyEvent.token(), Long::sum);
      case BROKEN ->
          told.add(
              new HistoryViolation(
                  SafetyRule.valueOf(historyEvent.lock()),
                  "",
                  historyEvent.nanos(),
                  "seen by worker " + historyEvent.worker() + ", token " + historyEvent.token(),
                  historyEvent.worker(),
                  historyEvent.token()));
    }
  }

  private LockHistory lock(HistoryEvent historyEvent) {
    return locks.computeIfAbsent(historyEvent.lock(), LockHistory::new);
  }

  private @Nullable ObservedHold hold(HistoryEvent historyEvent) {
    ObservedHold observedHold = holding.get(historyEvent.worker());
    return observedHold != null && observedHold.attempt == historyEvent.attempt()
        ? observedHold
        : null;
  }

  private void gave(HistoryEvent historyEvent, long more) {
    ObservedHold observedHold = hold(historyEvent);
    if (observedHold != null) {
      observedHold.gave = historyEvent.nanos();
      observedHold.ended = historyEvent.nanos() + more;
    }
  }

  /** Ends a try; returns its begin. */
  private long over(HistoryEvent historyEvent) {
    HistoryEvent asked = asking.remove(historyEvent.worker());
    if (asked == null) {
      throw new IllegalArgumentException(
          "The history has an answer without a question: " + historyEvent);
    }
    Long shown = queued.remove(historyEvent.worker());
    lock(historyEvent)
        .tried(
            new AcquireTrial(
                historyEvent.worker(),
                asked.nanos(),
                historyEvent.nanos(),
                asked.more() == 0,
                shown == null ? Long.MAX_VALUE : shown,
                historyEvent.kind()));
    return asked.nanos();
  }

  /** Checks the consumed events. To be called once. */
  public CheckResult check() {
    return check(true, Duration.ZERO);
  }

  /**
   * The same for a store that may starve a process, or is slower with many waiters.
   *
   * @param servesAll whether it serves all processes; else starved ones are counted as {@link
   *     #UNSERVED}
   * @param crowdDelay how much longer than others a lock of a {@link #CROWD} may stay taken
   */
  public CheckResult check(boolean servesAll, Duration crowdDelay) {
    int openLosses = 0;
    int naiveLosses = 0;
    int naiveDelays = 0;
    int inOrder = 0;
    told.forEach(this::add);
    buryTheDead();
    starvationCheck.check(
        faultLog,
        killed,
        servesAll ? this::add : unserved -> cycles.merge(UNSERVED, 1L, Long::sum));
    for (Map.Entry<String, LockHistory> entry : locks.entrySet()) {
      String name = entry.getKey();
      LockHistory lock = entry.getValue();
      if (name.startsWith(NAIVE_QUEUE)) {
        naiveDelays += delaysByKilledWaiters(lock);
        continue;
      }
      if (name.startsWith(NAIVE)) {
        naiveLosses += lock.overlaps(historyViolation -> {}) + (int) lock.lostUpdates();
        continue;
      }
      lock.overlaps(this::add);
      lock.checkTokens(this::add);
      lock.checkBusy(longestHoldNanos, faultLog, this::add);
      cycles.merge(UNANSWERED, lock.unanswered(), Long::sum);
      lock.checkOutages(faultLog, this::add);
      lock.checkLeft(this::add);
      if (name.startsWith(OPEN) || !lock.hasTokens()) {
        openLosses += (int) lock.lostUpdates();
      } else {
        lock.checkResource(this::add);
      }
      if (!name.startsWith(OWN)) {
        checkGaps(name, lock, name.startsWith(CROWD) ? crowdDelay.toNanos() : 0);
        checkRecovery(name, lock);
      }
      if (name.startsWith(FAIR)) {
        inOrder +=
            WaitAnalysis.overtaken(
                lock, faultLog, acquireTrial -> add(overtaken(name, acquireTrial)));
      }
    }
    return new CheckResult(
        List.copyOf(findings),
        Map.copyOf(found),
        Map.copyOf(counts),
        Map.copyOf(expectedViolations),
        openLosses,
        naiveLosses,
        naiveDelays,
        new CheckResult.RunStatistics(
            faults(),
            Map.copyOf(cycles),
            delays,
            inOrder,
            faultLog.stalledNanos(),
            faultLog.unexplained().size()));
  }

  private Map<String, Long> faults() {
    Map<String, Long> faults = new TreeMap<>();
    faultLog.spans().forEach(span -> faults.merge(span.fault(), 1L, Long::sum));
    return faults;
  }

  private void add(HistoryViolation historyViolation) {
    FaultLog.FaultInterval excuse =
        faultLog.excuse(historyViolation.rule(), historyViolation.nanos());
    if (excuse == null && AHEAD.contains(historyViolation.rule())) {
      excuse = ahead(historyViolation);
    }
    if (excuse != null) {
      expectedViolations.merge(excuse.fault(), 1L, Long::sum);
    } else if (found.merge(historyViolation.rule(), 1L, Long::sum) <= MOST) {
      findings.add(historyViolation);
    }
  }

  /**
   * A lock that is handed on more than a thousand times a second has tokens ahead of the store's
   * clock, by a second at most. If it is then forgotten, tokens may repeat within that second, and
   * are seen a moment later. A process unaware of the loss continues with its tokens, which others
   * see as old.
   *
   * <p>After tokens were set back, they are arbitrary until they pass the former maximum. Such a
   * store counts the changes of all locks together.
   */
  private FaultLog.@Nullable FaultInterval ahead(HistoryViolation historyViolation) {
    FaultLog.FaultInterval setBack = faultLog.tokensSetBack(historyViolation.nanos());
    // Tokens of locks that were only counted were not recorded.
    if (setBack != null
        && (historyViolation.lock().isEmpty()
            || historyViolation.token() <= greatestToken(setBack.until() + 2 * ttlNanos))) {
      return setBack;
    }
    FaultLog.FaultInterval lost = faultLog.excuse(SafetyRule.EXCLUSION, historyViolation.nanos());
    if (lost == null) {
      return null;
    }
    LockHistory lock = locks.get(historyViolation.lock());
    return lock == null
            || lock.holdsBetween(lost.from() - SECOND, lost.until()) > 1_000
            || lock.grantedBefore(historyViolation.worker(), historyViolation.token(), lost.until())
        ? lost
        : null;
  }

  /** The greatest token of holds before then. */
  private long greatestToken(long nanos) {
    return greatestTokens.computeIfAbsent(
        nanos,
        before ->
            locks.values().stream().mapToLong(lock -> lock.greatestToken(before)).max().orElse(0));
  }

  /** Ends holds and tries of killed processes. */
  private void buryTheDead() {
    for (LockHistory lock : locks.values()) {
      for (ObservedHold observedHold : lock.observedHolds) {
        observedHold.killed =
            killed.getOrDefault(observedHold.worker / HistoryEvent.PROCESS, Long.MAX_VALUE);
      }
    }
    for (HistoryEvent asked : asking.values()) {
      Long when = killed.get(asked.process());
      if (when != null) {
        lock(asked).unanswered(asked, when);
      }
    }
  }

  private void checkGaps(String name, LockHistory lock, long moreNanos) {
    WaitAnalysis.gaps(
        lock,
        faultLog,
        gap -> {
          FaultLog.WaitBound waitBound =
              name.startsWith(QUEUE)
                  ? faultLog.bound(gap)
                  : faultLog.bound(gap.from(), gap.until());
          delays
              .computeIfAbsent(waitBound.rule(), rule -> new DelayStatistics())
              .add(gap.until() - gap.from());
          long bound = waitBound.nanos() + moreNanos;
          if (gap.until() > bound) {
            add(
                new HistoryViolation(
                    waitBound.rule(),
                    name,
                    gap.until(),
                    String.format(
                        Locale.ROOT,
                        "wanted and not held for %.3f s, %.3f s too long",
                        (gap.until() - gap.from()) / 1e9,
                        (gap.until() - bound) / 1e9)));
          }
        });
  }

  /** The number of violations of the promise on killed waiters, allowed or not. */
  private int delaysByKilledWaiters(LockHistory lock) {
    int[] delays = {0};
    WaitAnalysis.gaps(
        lock,
        faultLog,
        gap -> {
          FaultLog.WaitBound waitBound = faultLog.afterKilledWaiters(gap, 0);
          delays[0] += waitBound != null && gap.until() > waitBound.nanos() ? 1 : 0;
        });
    return delays[0];
  }

  private void checkRecovery(String name, LockHistory lock) {
    if (lock.wantedAfter(faultLog.healed()) && !lock.heldAfter(faultLog.healed())) {
      add(
          new HistoryViolation(
              SafetyRule.RECOVERY, name, faultLog.healed(), "nobody held it after the last fault"));
    }
  }

  private static HistoryViolation overtaken(String name, AcquireTrial acquireTrial) {
    return new HistoryViolation(
        SafetyRule.FIFO,
        name,
        acquireTrial.over(),
        String.format(
            Locale.ROOT,
            "worker %d, in the queue %.3f ms after it asked, was served after somebody who asked"
                + " later",
            acquireTrial.worker(),
            (acquireTrial.queued() - acquireTrial.asked()) / 1e6));
  }
}
