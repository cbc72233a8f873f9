package io.mortise.support.table;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.admin.EndedHold;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply.AttemptState;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Request;
import io.mortise.support.internal.store.EndedHoldMapper;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * What a table keeps of one lock, without its holders and its queue, which {@link LockRecords}
 * gives. Plain state that one step changes at a time. Times are microseconds of the store's clock.
 */
public class LockRecord {
  /** A time that does not come. */
  public static final long NEVER = Long.MAX_VALUE;

  /** The lock's name. */
  public final LockName name;

  /** The sum of weights that can hold at a time. */
  public int capacity;

  /** The sum of weights that hold. */
  public long used;

  /** The last fencing token of the last block. */
  public long lastToken;

  /** Of the next waiter. */
  public long nextTicket;

  /** How many wait. */
  public long waiters;

  /** Until when nobody is granted, for the sake of at-least times. */
  public long shutUntil;

  /** When the lock was last used, so that an idle record can be forgotten. */
  public long touched;

  /** What ended last. */
  public @Nullable EndedAttempt lastEnd;

  /** Whether a step has changed it, so that it is to be saved. */
  public boolean dirty;

  /** Of a lock that nobody has used. */
  public LockRecord(LockName name, int capacity) {
    this.name = name;
    this.capacity = capacity;
  }

  /** Whether a hold of this weight has room. */
  final boolean fits(Mode mode) {
    return used + mode.weight() <= capacity;
  }

  /** How the last hold has ended, if that is the end that is kept. */
  public final @Nullable EndedHold lastEndedHold() {
    EndedAttempt ended = lastEnd;
    return ended == null
        ? null
        : EndedHoldMapper.endedHold(ended.attempt(), ended.was(), ended.how());
  }

  /** Whether nobody holds or waits, and the lock is open. */
  public final boolean isIdle(long now) {
    return used == 0 && waiters == 0 && shutUntil <= now;
  }

  /** Begins anew, after the record was idle for so long that it may be forgotten. */
  void reset(int newCapacity) {
    capacity = newCapacity;
    lastEnd = null;
    dirty = true;
  }

  /** One holder. */
  public static class HoldEntry {
    /** The attempt that was granted. */
    public final AttemptId attempt;

    /** What its owner calls it. */
    public final String label;

    /** When it was granted. */
    public final long since;

    /** Its part of the capacity. */
    public int weight;

    /** The first fencing token of its block. */
    public long token;

    /** How many tokens the block has. */
    public int tokens;

    /** When its at-most time is over, or {@link #NEVER}. */
    public long atMostUntil = NEVER;

    /** Until when the lock stays shut if it ends before; 0 for not. */
    public long atLeastUntil;

    /** Whether its owner knows that others want the lock. */
    public boolean told;

    /** Whether a notification was left of it, which its end makes obsolete. */
    public boolean noted;

    /** Whether an operator has asked its owner to give it up. */
    public boolean evicted;

    /** A hold that has no token yet. */
    public HoldEntry(AttemptId attempt, int weight, String label, long since) {
      this.attempt = attempt;
      this.weight = weight;
      this.label = label;
      this.since = since;
    }

    final HoldEntry copy() {
      HoldEntry copy = new HoldEntry(attempt, weight, label, since);
      copy.token = token;
      copy.tokens = tokens;
      copy.atMostUntil = atMostUntil;
      copy.atLeastUntil = atLeastUntil;
      copy.told = told;
      copy.noted = noted;
      copy.evicted = evicted;
      return copy;
    }

    /** Counts its times from now on; a null time leaves that of the hold as it is. */
    final void restart(HoldTerms terms, long now) {
      if (terms.atMost() != null) {
        atMostUntil = now + micros(terms.atMost());
      }
      if (terms.atLeast() != null) {
        atLeastUntil = now + micros(terms.atLeast());
      }
    }

    final boolean isOver(long now) {
      return atMostUntil <= now;
    }
  }

  /**
   * One attempt in the queue.
   *
   * @param request as it was when it was queued
   * @param ticket rises in the order of arrival
   * @param since when it was queued
   */
  public record WaiterEntry(Request.Acquire request, long ticket, long since) {
    /** The attempt that waits. */
    public AttemptId attempt() {
      return request.attempt();
    }
  }

  /** What an attempt was when it ended, and how it ended. */
  public record EndedAttempt(AttemptId attempt, AttemptState was, EndReason how) {}

  /** A duration in microseconds. */
  public static long micros(Duration duration) {
    return Math.addExact(
        Math.multiplyExact(duration.getSeconds(), 1_000_000L), duration.getNano() / 1000);
  }

  /** Microseconds as a duration. */
  public static Duration duration(long micros) {
    return Duration.of(micros, ChronoUnit.MICROS);
  }
}
