package io.mortise.internal.table;

import io.mortise.Terms;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the table keeps of one lock name. Times are store microseconds. */
final class LockRecord {
  static final long NEVER = Long.MAX_VALUE;

  final int capacity;

  /** In order of grant, but rotated where more hold than one step may look at. */
  final Map<AttemptId, HoldEntry> holders = new LinkedHashMap<>();

  /** In order of arrival. */
  final Map<AttemptId, WaiterEntry> waiters = new LinkedHashMap<>();

  long used;
  long lastToken;
  long nextTicket;
  long closedUntil;
  long touched;
  @Nullable EndedAttempt lastEnd;

  /** All ends, in a store that has no records. */
  final Map<AttemptId, EndedAttempt> endedAttempts = new HashMap<>();

  LockRecord(int capacity) {
    this.capacity = capacity;
  }

  boolean fits(Mode mode) {
    return used + mode.weight() <= capacity;
  }

  boolean isIdle(long now) {
    return holders.isEmpty() && waiters.isEmpty() && closedUntil <= now;
  }

  static final class HoldEntry {
    final AttemptId attempt;
    final String label;
    final long since;
    int weight;
    long token;
    int tokens;
    long freeAt = NEVER;
    long shutUntil;

    /** Whether its owner was told that somebody wants the lock. */
    boolean told;

    boolean evicted;

    HoldEntry(AttemptId attempt, Mode mode, String label, long now) {
      this.attempt = attempt;
      this.weight = mode.weight();
      this.label = label;
      this.since = now;
    }

    void restart(Terms terms, long now) {
      if (terms.atMost() != null) {
        freeAt = now + micros(terms.atMost());
      }
      if (terms.atLeast() != null) {
        shutUntil = now + micros(terms.atLeast());
      }
    }

    boolean isOver(long now) {
      return freeAt <= now;
    }
  }

  record WaiterEntry(Request.Acquire request, long ticket, long since) {}

  record EndedAttempt(AttemptId attempt, Reply.AttemptState was, Reply.EndReason how) {}

  static long micros(java.time.Duration duration) {
    return Math.addExact(
        Math.multiplyExact(duration.getSeconds(), 1_000_000L), duration.getNano() / 1000);
  }
}
