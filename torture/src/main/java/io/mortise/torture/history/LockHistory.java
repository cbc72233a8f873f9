package io.mortise.torture.history;

import io.mortise.torture.history.Finding.Rule;
import java.util.ArrayList;
import java.util.Arrays;
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
  /** A try, and when it was over. */
  record Trial(int worker, long asked, long over, boolean held) {}

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

  void busy(Event event, long asked) {
    busy.add(new Trial(event.worker(), asked, event.nanos(), false));
  }

  /** It may have been granted without anybody's knowing. */
  void doubtful(Event event, long asked) {
    doubtful.add(new Trial(event.worker(), asked, event.nanos(), false));
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
                hold + " asked when " + greatest + " had held"));
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
                "worker " + refused.worker() + ", token " + refused.token() + ", was refused"));
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

  /**
   * @param ttlNanos for how long a request that failed may hold without anybody's knowing, twice
   */
  void checkBusy(long ttlNanos, Consumer<Finding> findings) {
    int count = holds.size() + doubtful.size();
    long[][] spans = new long[count][];
    int at = 0;
    for (Hold hold : holds) {
      spans[at++] = new long[] {hold.asked, hold.ended};
    }
    for (Trial trial : doubtful) {
      spans[at++] = new long[] {trial.asked(), trial.over() + 2 * ttlNanos};
    }
    Arrays.sort(spans, Comparator.comparingLong(span -> span[0]));
    busy.sort(Comparator.comparingLong(Trial::over));
    long latest = Long.MIN_VALUE;
    int next = 0;
    for (Trial told : busy) {
      while (next < count && spans[next][0] <= told.over()) {
        latest = Math.max(latest, spans[next++][1]);
      }
      if (latest < told.asked()) {
        findings.accept(
            new Finding(
                Rule.HONEST_BUSY, name, told.over(), "worker " + told.worker() + " was told busy"));
      }
    }
  }

  void checkLeft(Consumer<Finding> findings) {
    if (left > 0) {
      findings.accept(
          new Finding(Rule.NO_LEAK, name, 0, left + " holders and waiters are in the store"));
    }
  }

  /** Whether somebody has held since. */
  boolean heldAfter(long nanos) {
    return holds.stream().anyMatch(hold -> hold.from > nanos);
  }

  /**
   * When the first of those who waited at a moment held; -1 if nobody waited, or if a holder of
   * another process was there.
   */
  long firstServed(long moment, int deadProcess) {
    boolean dead = false;
    for (Hold hold : holds) {
      if (hold.from <= moment && hold.ended > moment) {
        if (hold.worker / Event.PROCESS != deadProcess) {
          return -1;
        }
        dead = true;
      }
    }
    long first = Long.MAX_VALUE;
    for (Trial trial : trials) {
      if (trial.worker() / Event.PROCESS != deadProcess
          && trial.asked() < moment
          && trial.over() > moment
          && trial.held()) {
        first = Math.min(first, trial.over());
      }
    }
    return dead && first != Long.MAX_VALUE ? first : -1;
  }
}
