package io.mortise.torture.history;

import io.mortise.torture.history.Finding.Rule;
import io.mortise.torture.history.LockHistory.Trial;
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
public final class Checker {
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

  /** More of a kind say nothing new. */
  private static final int MOST = 20;

  private static final long SECOND = 1_000_000_000;
  private static final Set<Rule> AHEAD =
      EnumSet.of(Rule.UNIQUE_TOKENS, Rule.RISING_TOKENS, Rule.NO_RIGHTFUL_REFUSAL);

  private final long ttlNanos;
  private final Trouble trouble;
  private final Starvation starvation;
  private final Map<String, LockHistory> locks = new TreeMap<>();
  private final Map<Integer, Event> asking = new HashMap<>();
  private final Map<Integer, Long> queued = new HashMap<>();
  private final Map<Integer, Hold> holding = new HashMap<>();
  private final Map<Integer, Long> killed = new HashMap<>();
  private final Map<Kind, Long> counts = new EnumMap<>(Kind.class);
  private final Map<String, Long> cycles = new TreeMap<>();
  private final List<Finding> told = new ArrayList<>();
  private final List<Finding> findings = new ArrayList<>();
  private final Map<Rule, Long> found = new EnumMap<>(Rule.class);
  private final Map<String, Long> foretold = new TreeMap<>();
  private final Map<Rule, Delays> delays = new EnumMap<>(Rule.class);

  /**
   * A checker of one run.
   *
   * @param ttl of the sessions
   * @param patience how much longer than it is promised anything may take
   * @param effects of faults, by name
   */
  public Checker(Duration ttl, Duration patience, Map<String, Effect> effects) {
    this.ttlNanos = ttl.toNanos();
    this.trouble = new Trouble(ttlNanos, patience.toNanos(), effects);
    this.starvation = new Starvation(ttlNanos);
  }

  /** Takes the next event of a worker in. */
  public void take(Event event) {
    counts.merge(event.kind(), 1L, Long::sum);
    if (event.attempt() > 0 && !event.lock().startsWith(NAIVE)) {
      starvation.take(event);
    }
    switch (event.kind()) {
      case LOST -> trouble.take(event);
      case FAULT, HEALED, DOWN, UP, STALLED -> trouble.take(event);
      case KILLED -> killed.put(event.process(), event.nanos());
      case ASKS -> asking.put(event.worker(), event);
      case QUEUED -> queued.put(event.worker(), event.nanos());
      case HOLDS -> {
        Hold hold = new Hold(event, over(event));
        lock(event).holds.add(hold);
        holding.put(event.worker(), hold);
      }
      case STALE -> {
        trouble.take(event);
        over(event);
      }
      case OUTAGE, TIMED_OUT, BUSY -> over(event);
      case SURE -> {
        Hold hold = hold(event);
        if (hold != null) {
          hold.sure = Math.max(hold.sure, event.nanos());
        }
      }
      case GAVE -> gave(event, 0);
      // In the store it may go on for as long as it takes to be noticed there.
      case GAVE_LOST -> {
        trouble.take(event);
        gave(event, 2 * ttlNanos);
      }
      case WROTE -> lock(event).wrote();
      case REFUSED -> lock(event).refused(event);
      case FINAL -> lock(event).finalValue(event);
      case LEFT -> lock(event).left(event);
      case CYCLES -> cycles.merge(event.lock(), event.token(), Long::sum);
      case BROKEN ->
          told.add(
              new Finding(
                  Rule.valueOf(event.lock()),
                  "",
                  event.nanos(),
                  "seen by worker " + event.worker() + ", token " + event.token()));
    }
  }

  private LockHistory lock(Event event) {
    return locks.computeIfAbsent(event.lock(), LockHistory::new);
  }

  private @Nullable Hold hold(Event event) {
    Hold hold = holding.get(event.worker());
    return hold != null && hold.attempt == event.attempt() ? hold : null;
  }

  private void gave(Event event, long more) {
    Hold hold = hold(event);
    if (hold != null) {
      hold.gave = event.nanos();
      hold.ended = event.nanos() + more;
    }
  }

  /** A try is over; returns when it began. */
  private long over(Event event) {
    Event asked = asking.remove(event.worker());
    if (asked == null) {
      throw new IllegalArgumentException("The history has an answer without a question: " + event);
    }
    Long shown = queued.remove(event.worker());
    lock(event)
        .tried(
            new Trial(
                event.worker(),
                asked.nanos(),
                event.nanos(),
                asked.more() == 0,
                shown == null ? Long.MAX_VALUE : shown,
                event.kind()));
    return asked.nanos();
  }

  /** Checks all that was taken in. Once. */
  public Verdict check() {
    int openLosses = 0;
    int naiveLosses = 0;
    int naiveDelays = 0;
    int inOrder = 0;
    told.forEach(this::add);
    buryTheDead();
    starvation.check(trouble, killed, this::add);
    for (Map.Entry<String, LockHistory> entry : locks.entrySet()) {
      String name = entry.getKey();
      LockHistory lock = entry.getValue();
      if (name.startsWith(NAIVE_QUEUE)) {
        naiveDelays += delaysByKilledWaiters(lock);
        continue;
      }
      if (name.startsWith(NAIVE)) {
        naiveLosses += lock.overlaps(finding -> {}) + (int) lock.lostUpdates();
        continue;
      }
      lock.overlaps(this::add);
      lock.checkTokens(this::add);
      lock.checkBusy(ttlNanos, trouble, this::add);
      lock.checkOutages(trouble, this::add);
      lock.checkLeft(this::add);
      if (name.startsWith(OPEN)) {
        openLosses += (int) lock.lostUpdates();
      } else {
        lock.checkResource(this::add);
      }
      if (!name.startsWith(OWN)) {
        checkGaps(name, lock);
        checkRecovery(name, lock);
      }
      if (name.startsWith(FAIR)) {
        inOrder += Waits.overtaken(lock, trouble, trial -> add(overtaken(name, trial)));
      }
    }
    return new Verdict(
        List.copyOf(findings),
        Map.copyOf(found),
        Map.copyOf(counts),
        Map.copyOf(foretold),
        openLosses,
        naiveLosses,
        naiveDelays,
        new Verdict.Figures(
            faults(),
            Map.copyOf(cycles),
            delays,
            inOrder,
            trouble.stalledNanos(),
            trouble.unexplained().size()));
  }

  private Map<String, Long> faults() {
    Map<String, Long> faults = new TreeMap<>();
    trouble.spans().forEach(span -> faults.merge(span.fault(), 1L, Long::sum));
    return faults;
  }

  private void add(Finding finding) {
    Trouble.Span excuse = trouble.excuse(finding.rule(), finding.nanos());
    if (excuse == null && AHEAD.contains(finding.rule())) {
      excuse = ahead(finding);
    }
    if (excuse != null) {
      foretold.merge(excuse.fault(), 1L, Long::sum);
    } else if (found.merge(finding.rule(), 1L, Long::sum) <= MOST) {
      findings.add(finding);
    }
  }

  /**
   * A lock that was handed on more than a thousand times a second has tokens ahead of the store's
   * clock, by a second at most; if it is then forgotten, they may repeat within that second, and
   * are seen a moment later. And a process that does not know yet what was forgotten goes on with
   * the tokens that it had, which others see to be old.
   */
  private Trouble.@Nullable Span ahead(Finding finding) {
    Trouble.Span lost = trouble.excuse(Rule.EXCLUSION, finding.nanos());
    if (lost == null) {
      return null;
    }
    LockHistory lock = locks.get(finding.lock());
    return lock == null
            || lock.holdsBetween(lost.from() - SECOND, lost.until()) > 1_000
            || lock.grantedBefore(finding.worker(), finding.token(), lost.until())
        ? lost
        : null;
  }

  /** What ended with its process. */
  private void buryTheDead() {
    for (LockHistory lock : locks.values()) {
      for (Hold hold : lock.holds) {
        hold.killed = killed.getOrDefault(hold.worker / Event.PROCESS, Long.MAX_VALUE);
      }
    }
    for (Event asked : asking.values()) {
      Long when = killed.get(asked.process());
      if (when != null) {
        lock(asked).unanswered(asked, when);
      }
    }
  }

  private void checkGaps(String name, LockHistory lock) {
    Waits.gaps(
        lock,
        trouble,
        gap -> {
          Trouble.Bound bound =
              name.startsWith(QUEUE) ? trouble.bound(gap) : trouble.bound(gap.from(), gap.until());
          delays.computeIfAbsent(bound.rule(), rule -> new Delays()).add(gap.until() - gap.from());
          if (gap.until() > bound.nanos()) {
            add(
                new Finding(
                    bound.rule(),
                    name,
                    gap.until(),
                    String.format(
                        Locale.ROOT,
                        "wanted and not held for %.3f s, %.3f s too long",
                        (gap.until() - gap.from()) / 1e9,
                        (gap.until() - bound.nanos()) / 1e9)));
          }
        });
  }

  /** How often the promise of killed waiters is broken, whatever the store may do. */
  private int delaysByKilledWaiters(LockHistory lock) {
    int[] delays = {0};
    Waits.gaps(
        lock,
        trouble,
        gap -> {
          Trouble.Bound bound = trouble.afterKilledWaiters(gap, 0);
          delays[0] += bound != null && gap.until() > bound.nanos() ? 1 : 0;
        });
    return delays[0];
  }

  private void checkRecovery(String name, LockHistory lock) {
    if (!lock.heldAfter(trouble.healed())) {
      add(
          new Finding(
              Rule.RECOVERY, name, trouble.healed(), "nobody held it after the last fault"));
    }
  }

  private static Finding overtaken(String name, Trial trial) {
    return new Finding(
        Rule.FIFO,
        name,
        trial.over(),
        String.format(
            Locale.ROOT,
            "worker %d, in the queue %.3f ms after it asked, was served after somebody who asked"
                + " later",
            trial.worker(),
            (trial.queued() - trial.asked()) / 1e6));
  }
}
