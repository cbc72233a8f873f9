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
 * Takes a history in, and tells what is wrong with it. The events of one worker come in their
 * order, those of different workers in any. For one thread.
 */
public final class HistoryChecker {
  /** Locks whose names begin so guard their resource by nothing: they are there to be broken. */
  public static final String OPEN = "open-";

  /** Locks whose names begin so are not Mortise's: they are there to be broken. */
  public static final String NAIVE = "naive-";

  /**
   * Locks whose names begin so are not Mortise's: queues that do not look who has died, there to be
   * broken.
   */
  public static final String NAIVE_QUEUE = NAIVE + "queue-";

  /** Locks whose names begin so are wanted by processes that hold nothing else, and may die. */
  public static final String QUEUE = "queue-";

  /** Locks whose names begin so are wanted by one worker only, which may be dead. */
  public static final String OWN = "own-";

  /** Locks whose names begin so are asked for as fair ones. */
  public static final String FAIR = "fair-";

  /** Locks whose names begin so are wanted by a hundred fair waiters of each process. */
  public static final String CROWD = "crowd-";

  /**
   * Locks whose names begin so stay with a process for {@link #IDLE} after it has given them back,
   * where the store can call them back.
   */
  public static final String STICKY = "sticky-";

  /** How long that is. */
  public static final Duration IDLE = Duration.ofSeconds(5);

  /** Tries that were told busy since an idle holder did not answer in time. */
  public static final String UNANSWERED = "unanswered";

  /** Processes that got nothing for 20 TTLs in which others held. */
  public static final String UNSERVED = "unserved";

  /** More of a kind say nothing new. */
  private static final int MOST = 20;

  private static final long SECOND = 1_000_000_000;
  private static final Set<SafetyRule> AHEAD =
      EnumSet.of(
          SafetyRule.UNIQUE_TOKENS, SafetyRule.RISING_TOKENS, SafetyRule.NO_RIGHTFUL_REFUSAL);

  private final long ttlNanos;

  /** For how long a process that is dead may hold, or a request that failed, twice. */
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

  /** By time; asked once for each violation, and there may be many. */
  private final Map<Long, Long> greatestTokens = new HashMap<>();

  private final List<HistoryViolation> told = new ArrayList<>();
  private final List<HistoryViolation> findings = new ArrayList<>();
  private final Map<SafetyRule, Long> found = new EnumMap<>(SafetyRule.class);
  private final Map<String, Long> expectedViolations = new TreeMap<>();
  private final Map<SafetyRule, DelayStatistics> delays = new EnumMap<>(SafetyRule.class);

  /**
   * A checker of one run.
   *
   * @param ttl of the sessions
   * @param patience how much longer than it is promised anything may take
   * @param faultEffects of faults, by name
   */
  public HistoryChecker(Duration ttl, Duration patience, Map<String, FaultEffect> faultEffects) {
    this(ttl, ttl, patience, faultEffects);
  }

  /**
   * The same for a store that needs longer to free what a dead process held.
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

  /** Takes the next event of a worker in. */
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
      // In the store it may go on for as long as it takes to be noticed there.
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

  /** A try is over; returns when it began. */
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

  /** Checks all that was taken in. Once. */
  public CheckResult check() {
    return check(true, Duration.ZERO);
  }

  /**
   * The same for a store that may let a process go without, or is slower where many wait.
   *
   * @param servesAll whether it does not; else those that went without are counted as {@link
   *     #UNSERVED}
   * @param crowdDelay how much longer than others a lock of a {@link #CROWD} may stay shut
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
   * A lock that was handed on more than a thousand times a second has tokens ahead of the store's
   * clock, by a second at most; if it is then forgotten, they may repeat within that second, and
   * are seen a moment later. And a process that does not know yet what was forgotten goes on with
   * the tokens that it had, which others see to be old.
   *
   * <p>Where tokens were set back, they may be any until they have come by the greatest that there
   * was. Such a store counts the changes of all locks together.
   */
  private FaultLog.@Nullable FaultInterval ahead(HistoryViolation historyViolation) {
    FaultLog.FaultInterval setBack = faultLog.tokensSetBack(historyViolation.nanos());
    // How great tokens were of locks that were only counted, nobody has written down.
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

  /** The greatest token of those that held before then. */
  private long greatestToken(long nanos) {
    return greatestTokens.computeIfAbsent(
        nanos,
        before ->
            locks.values().stream().mapToLong(lock -> lock.greatestToken(before)).max().orElse(0));
  }

  /** What ended with its process. */
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

  /** How often the promise of killed waiters is broken, whatever the store may do. */
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
