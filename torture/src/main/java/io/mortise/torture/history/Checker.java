package io.mortise.torture.history;

import io.mortise.torture.history.Finding.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
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

  /** Locks whose names begin so are wanted by one worker only, which may be dead. */
  public static final String OWN = "own-";

  /** More of a kind say nothing new. */
  private static final int MOST = 20;

  private final long ttlNanos;
  private final long patienceNanos;
  private final Set<String> forgetful;
  private final Map<String, LockHistory> locks = new TreeMap<>();
  private final Map<Integer, Event> asking = new HashMap<>();
  private final Map<Integer, Hold> holding = new HashMap<>();
  private final List<Event> faults = new ArrayList<>();
  private final Map<Kind, Long> counts = new EnumMap<>(Kind.class);
  private final List<Finding> findings = new ArrayList<>();
  private final Map<Rule, Long> found = new EnumMap<>(Rule.class);
  private int foretold;

  /**
   * A checker of one run.
   *
   * @param ttl of the sessions
   * @param patience how much longer than a TTL the locks of a dead process may take
   * @param forgetful faults after which two may hold for up to two TTLs, since the store has
   *     forgotten who did
   */
  public Checker(Duration ttl, Duration patience, Set<String> forgetful) {
    this.ttlNanos = ttl.toNanos();
    this.patienceNanos = patience.toNanos();
    this.forgetful = Set.copyOf(forgetful);
  }

  /** Takes the next event of a worker in. */
  public void take(Event event) {
    counts.merge(event.kind(), 1L, Long::sum);
    switch (event.kind()) {
      case FAULT, HEALED, KILLED -> faults.add(event);
      case ASKS -> asking.put(event.worker(), event);
      case HOLDS -> {
        Hold hold = new Hold(event, over(event, true));
        lock(event).holds.add(hold);
        holding.put(event.worker(), hold);
      }
      case STALE, OUTAGE -> lock(event).doubtful(event, over(event, false));
      case TIMED_OUT -> over(event, false);
      case BUSY -> lock(event).busy(event, over(event, false));
      case SURE -> {
        Hold hold = hold(event);
        if (hold != null) {
          hold.sure = Math.max(hold.sure, event.nanos());
        }
      }
      case GAVE -> {
        Hold hold = hold(event);
        if (hold != null) {
          hold.ended = event.nanos();
        }
      }
      case WROTE -> lock(event).wrote();
      case REFUSED -> lock(event).refused(event);
      case FINAL -> lock(event).finalValue(event);
      case LEFT -> lock(event).left(event);
      case GAVE_LOST -> {
        Hold hold = hold(event);
        if (hold != null) {
          // In the store it may go on for as long as it takes to be noticed there.
          hold.ended = event.nanos() + 2 * ttlNanos;
        }
      }
      case LOST -> {}
    }
  }

  private LockHistory lock(Event event) {
    return locks.computeIfAbsent(event.lock(), LockHistory::new);
  }

  private @Nullable Hold hold(Event event) {
    Hold hold = holding.get(event.worker());
    return hold != null && hold.attempt == event.attempt() ? hold : null;
  }

  /** A try is over; returns when it began. */
  private long over(Event event, boolean held) {
    Event asked = asking.remove(event.worker());
    if (asked == null) {
      throw new IllegalArgumentException("The history has an answer without a question: " + event);
    }
    lock(event)
        .trials
        .add(new LockHistory.Trial(event.worker(), asked.nanos(), event.nanos(), held));
    return asked.nanos();
  }

  /** Checks all that was taken in. Once. */
  public Verdict check() {
    int openLosses = 0;
    int naiveLosses = 0;
    for (Map.Entry<String, LockHistory> entry : locks.entrySet()) {
      LockHistory lock = entry.getValue();
      if (entry.getKey().startsWith(NAIVE)) {
        naiveLosses += lock.overlaps(finding -> {}) + (int) lock.lostUpdates();
        continue;
      }
      lock.overlaps(this::add);
      lock.checkTokens(this::add);
      lock.checkBusy(ttlNanos, this::add);
      lock.checkLeft(this::add);
      if (entry.getKey().startsWith(OPEN)) {
        openLosses += (int) lock.lostUpdates();
      } else {
        lock.checkResource(this::add);
      }
    }
    long slowest = checkCrashes();
    checkRecovery();
    return new Verdict(
        List.copyOf(findings),
        Map.copyOf(found),
        Map.copyOf(counts),
        foretold,
        openLosses,
        naiveLosses,
        slowest);
  }

  private void add(Finding finding) {
    if (finding.rule() == Rule.EXCLUSION && wasForgotten(finding.nanos())) {
      foretold++;
      return;
    }
    if (found.merge(finding.rule(), 1L, Long::sum) <= MOST) {
      findings.add(finding);
    }
  }

  private boolean wasForgotten(long nanos) {
    return faults.stream()
        .anyMatch(
            fault ->
                fault.kind() == Kind.FAULT
                    && forgetful.contains(fault.lock())
                    && fault.nanos() <= nanos
                    && nanos <= fault.nanos() + 2 * ttlNanos);
  }

  /** Returns the longest time from a kill until a waiter held, in nanoseconds. */
  private long checkCrashes() {
    long slowest = 0;
    for (Event killed : faults) {
      if (killed.kind() != Kind.KILLED || isTroubled(killed)) {
        continue;
      }
      for (Map.Entry<String, LockHistory> entry : locks.entrySet()) {
        if (entry.getKey().startsWith(NAIVE)) {
          continue;
        }
        long served = entry.getValue().firstServed(killed.nanos(), killed.process());
        long took = served - killed.nanos();
        if (served < 0) {
          continue;
        }
        slowest = Math.max(slowest, took);
        if (took > ttlNanos + patienceNanos) {
          add(
              new Finding(
                  Rule.CRASH_RELEASE,
                  entry.getKey(),
                  served,
                  String.format(
                      Locale.ROOT,
                      "served %.2f s after process %d was killed",
                      took / 1e9,
                      killed.process())));
        }
      }
    }
    return slowest;
  }

  /** Whether another fault is near enough to be the cause of a delay. */
  private boolean isTroubled(Event killed) {
    long until = killed.nanos() + ttlNanos + patienceNanos;
    return faults.stream()
        .anyMatch(
            other ->
                !other.equals(killed)
                    && other.kind() == Kind.FAULT
                    && other.worker() != killed.worker()
                    && other.nanos() < until
                    && other.nanos() > killed.nanos() - 2 * ttlNanos);
  }

  private void checkRecovery() {
    long healed =
        faults.stream()
            .filter(event -> event.kind() == Kind.HEALED)
            .mapToLong(Event::nanos)
            .max()
            .orElse(Long.MIN_VALUE);
    locks.forEach(
        (name, lock) -> {
          if (!name.startsWith(NAIVE) && !name.startsWith(OWN) && !lock.heldAfter(healed)) {
            add(new Finding(Rule.RECOVERY, name, healed, "nobody held it after the last fault"));
          }
        });
  }
}
