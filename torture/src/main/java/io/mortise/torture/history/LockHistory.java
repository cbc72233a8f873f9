package io.mortise.torture.history;

import io.mortise.torture.history.Finding.Rule;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/**
 * What happened to one lock. All checks sort and sweep: O(n log n).
 *
 * <p>Only what must be so by the order of events on one clock is called wrong: of a hold, the time
 * from when its worker had just seen the lease valid until before it last saw it valid; of two
 * holds, that one was there before the other was asked for.
 */
final class LockHistory {
  /**
   * A try, and how and when it was over.
   *
   * @param waited whether it was ready to wait
   * @param queued when the store had shown it; {@code Long.MAX_VALUE} if nobody looked
   */
  record Trial(int worker, long asked, long over, boolean waited, long queued, Kind end) {
    int process() {
      return worker / Event.PROCESS;
    }

    boolean held() {
      return end == Kind.HOLDS;
    }
  }

  private final String name;
  final List<Hold> holds = new ArrayList<>();
  final List<Trial> trials = new ArrayList<>();
  private final List<Trial> busy = new ArrayList<>();
  private final List<Trial> doubtful = new ArrayList<>();
  private final List<Event> refusals = new ArrayList<>();
  private long writes;
  private long last = -1;
  private long left;

  LockHistory(String name) {
    this.name = name;
  }

  /** A try is over. */
  void tried(Trial trial) {
    trials.add(trial);
    if (trial.end == Kind.BUSY) {
      busy.add(trial);
    } else if (trial.end == Kind.STALE || trial.end == Kind.OUTAGE) {
      // It may have been granted without anybody's knowing.
      doubtful.add(trial);
    }
  }

  /** A try whose process was killed before it knew how it ended. */
  void unanswered(Event asked, long killed) {
    doubtful.add(
        new Trial(
            asked.worker(), asked.nanos(), killed, asked.more() == 0, Long.MAX_VALUE, Kind.OUTAGE));
  }

  void wrote() {
    writes++;
  }

  void refused(Event event) {
    refusals.add(event);
  }

  void finalValue(Event event) {
    last = event.token();
  }

  void left(Event event) {
    left += event.more();
  }

  /** Updates that the resource acknowledged and does not have any more. */
  long lostUpdates() {
    return last < 0 ? 0 : Math.max(0, writes - last);
  }

  /** Pairs of holds that overlapped for certain. */
  int overlaps(Consumer<Finding> findings) {
    List<Hold> ordered = new ArrayList<>(holds);
    ordered.sort(Comparator.comparingLong(hold -> hold.from));
    int overlaps = 0;
    Hold longest = null;
    for (Hold hold : ordered) {
      if (longest != null && hold.from < longest.sure) {
        overlaps++;
        findings.accept(
            new Finding(
                Rule.EXCLUSION,
                name,
                hold.from,
                String.format(
                    Locale.ROOT,
                    "%s held although %s still saw its lease valid %.3f ms later",
                    hold,
                    longest,
                    (longest.sure - hold.from) / 1e6)));
      }
      longest = longest == null || hold.sure > longest.sure ? hold : longest;
    }
    return overlaps;
  }

  void checkTokens(Consumer<Finding> findings) {
    Map<Long, Hold> byToken = new HashMap<>();
    List<Hold> byFrom = new ArrayList<>();
    for (Hold hold : holds) {
      if (hold.token == 0) {
        continue;
      }
      byFrom.add(hold);
      Hold same = byToken.putIfAbsent(hold.token, hold);
      if (same != null) {
        findings.accept(
            new Finding(Rule.UNIQUE_TOKENS, name, hold.from, hold + " has the token of " + same));
      }
    }
    List<Hold> byAsked = new ArrayList<>(byFrom);
    byFrom.sort(Comparator.comparingLong(hold -> hold.from));
    byAsked.sort(Comparator.comparingLong(hold -> hold.asked));
    Hold greatest = null;
    int next = 0;
    for (Hold hold : byAsked) {
      while (next < byFrom.size() && byFrom.get(next).from < hold.asked) {
        Hold before = byFrom.get(next++);
        greatest = greatest == null || before.token > greatest.token ? before : greatest;
      }
      if (greatest != null && greatest.token > hold.token) {
        findings.accept(
            new Finding(
                Rule.RISING_TOKENS,
                name,
                hold.from,
                hold + " asked when " + greatest + " had held",
                hold.worker,
                hold.token));
      }
    }
  }

  void checkResource(Consumer<Finding> findings) {
    for (Event refused : refusals) {
      if (refused.more() == 1) {
        findings.accept(
            new Finding(
                Rule.NO_RIGHTFUL_REFUSAL,
                name,
                refused.nanos(),
                "worker " + refused.worker() + ", token " + refused.token() + ", was refused",
                refused.worker(),
                refused.token()));
      }
    }
    if (lostUpdates() > 0) {
      findings.accept(
          new Finding(
              Rule.NO_LOST_UPDATE,
              name,
              0,
              writes + " updates were taken, " + last + " are there"));
    }
  }

  /** The worker of what is in the way of all, also of who left it there. */
  private static final int NOBODY = -1;

  /** A time in which a worker held, or asked, or may have held without knowing. */
  private record Span(int worker, long from, long until) {}

  /**
   * @param ttlNanos for how long a request that failed, or a dead process, may hold without
   *     anybody's knowing, twice
   */
  void checkBusy(long ttlNanos, Trouble trouble, Consumer<Finding> findings) {
    List<Span> spans = new ArrayList<>();
    for (Hold hold : holds) {
      long until = Math.min(hold.ended, hold.killed);
      long disturbed = trouble.disturbedUntil(hold.worker / Event.PROCESS, hold.sure, until);
      boolean lost = until == hold.killed || disturbed > Long.MIN_VALUE;
      int whose = hold.ended > hold.gave ? NOBODY : hold.worker;
      if (lost && until < Long.MAX_VALUE) {
        // Nobody gave it back; or what gave it back was lost, and is sent again after close().
        until = Math.max(until, disturbed) + 2 * ttlNanos;
        whose = NOBODY;
      }
      spans.add(new Span(whose, hold.asked, until));
    }
    trials.forEach(trial -> spans.add(new Span(trial.worker, trial.asked, trial.over)));
    for (Trial trial : doubtful) {
      spans.add(new Span(NOBODY, trial.asked, trial.over + 2 * ttlNanos));
    }
    spans.sort(Comparator.comparingLong(Span::from));
    busy.sort(Comparator.comparingLong(Trial::over));
    // The two that last longest, of different workers: what one did itself made nobody busy for it.
    Span first = new Span(NOBODY, 0, Long.MIN_VALUE);
    Span second = first;
    int next = 0;
    for (Trial told : busy) {
      while (next < spans.size() && spans.get(next).from <= told.over) {
        Span span = spans.get(next++);
        if (span.until > first.until) {
          second = span.worker == first.worker ? second : first;
          first = span;
        } else if (span.until > second.until && span.worker != first.worker) {
          second = span;
        }
      }
      if ((first.worker == told.worker ? second : first).until < told.asked) {
        findings.accept(
            new Finding(
                Rule.HONEST_BUSY, name, told.over, "worker " + told.worker + " was told busy"));
      }
    }
  }

  void checkLeft(Consumer<Finding> findings) {
    if (left > 0) {
      findings.accept(
          new Finding(Rule.NO_LEAK, name, 0, left + " holders and waiters are in the store"));
    }
  }

  /** How often it was held first in this time. */
  long holdsBetween(long from, long until) {
    return holds.stream().filter(hold -> from <= hold.from && hold.from < until).count();
  }

  /**
   * Whether a hold was granted to its process before this moment, or was passed on within it from
   * one that was: each has the token after the one before.
   */
  boolean grantedBefore(int worker, long token, long moment) {
    Map<Long, Hold> ofProcess = new HashMap<>();
    for (Hold hold : holds) {
      if (hold.token != 0 && hold.worker / Event.PROCESS == worker / Event.PROCESS) {
        ofProcess.put(hold.token, hold);
      }
    }
    long first = token;
    Hold hold = ofProcess.get(first);
    while (hold != null && hold.asked >= moment) {
      hold = ofProcess.get(--first);
    }
    return hold != null;
  }

  /** Whether somebody has held since. */
  boolean heldAfter(long nanos) {
    return holds.stream().anyMatch(hold -> hold.from > nanos);
  }

  /** While nothing could be asked of the store, only the process itself makes a lock busy. */
  void checkOutages(Trouble trouble, Consumer<Finding> findings) {
    for (Trial told : busy) {
      if (trouble.isOutage(told.process(), told.asked, told.over) && !isBusyInside(told)) {
        findings.accept(
            new Finding(
                Rule.OUTAGE,
                name,
                told.over,
                "worker " + told.worker + " was told busy while the store could not be reached"));
      }
    }
  }

  /** Whether another worker of the process held it, or waited for it. */
  private boolean isBusyInside(Trial told) {
    return holds.stream()
            .anyMatch(
                hold ->
                    hold.worker / Event.PROCESS == told.process()
                        && hold.asked <= told.over
                        && hold.ended >= told.asked)
        || trials.stream()
            .anyMatch(
                other ->
                    other.worker != told.worker
                        && other.process() == told.process()
                        && other.asked <= told.over
                        && other.over >= told.asked);
  }
}
