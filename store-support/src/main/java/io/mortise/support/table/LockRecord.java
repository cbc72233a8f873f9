package io.mortise.support.table;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.admin.EndedHold;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply.AttemptState;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Request;
import io.mortise.support.internal.session.EndedHoldMapper;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * A table's record of one lock, without its holders and its queue, which {@link LockRecords}
 * returns. Plain state that one step changes at a time. Times are microseconds of the store's
 * clock.
 */
public class LockRecord {
  /** A time that never comes. */
  public static final long NEVER = Long.MAX_VALUE;

  /** The lock's name. */
  public final LockName name;

  /** The maximum sum of weights of concurrent holds. */
  public int capacity;

  /** The sum of weights of the holds. */
  public long used;

  /** The last fencing token of the last block. */
  public long lastToken;

  /** The ticket of the next waiter. */
  public long nextTicket;

  /** The number of waiters. */
  public long waiters;

  /** The time until which no grant is made, because of at-least times. */
  public long shutUntil;

  /** The time of the last use, so that an idle record can be forgotten. */
  public long touched;

  /** The last end of an attempt. */
  public @Nullable EndedAttempt lastEnd;

  /** Whether a step has changed the record, so that it has to be saved. */
  public boolean dirty;

  /** The record of an unused lock. */
  public LockRecord(LockName name, int capacity) {
    this.name = name;
    this.capacity = capacity;
  }

  /** Whether there is room for a hold of this weight. */
  final boolean fits(Mode mode) {
    return used + mode.weight() <= capacity;
  }

  /** The end of the last hold, if the record keeps that end. */
  public final @Nullable EndedHold lastEndedHold() {
    EndedAttempt ended = lastEnd;
    return ended == null
        ? null
        : EndedHoldMapper.endedHold(ended.attempt(), ended.was(), ended.how());
  }

  /** Whether there is no holder and no waiter, and the lock is open. */
  public final boolean isIdle(long now) {
    return used == 0 && waiters == 0 && shutUntil <= now;
  }

  /** Resets the record, after it was idle for so long that it may be forgotten. */
  void reset(int newCapacity) {
    capacity = newCapacity;
    lastEnd = null;
    dirty = true;
  }

  /** A holder. */
  public static class HoldEntry {
    public final AttemptId attempt;

    /** The owner's label for it. */
    public final String label;

    /** The time of the grant. */
    public final long since;

    /** Its part of the capacity. */
    public int weight;

    /** The first fencing token of its block. */
    public long token;

    /** How many tokens the block has. */
    public int tokens;

    /** The end of its at-most time, or {@link #NEVER}. */
    public long atMostUntil = NEVER;

    /** The time until which the lock stays shut if the hold ends before; 0 for none. */
    public long atLeastUntil;

    /** The same as a length; null for none. */
    @Nullable AtLeastTime atLeast;

    /** Whether its owner knows that others want the lock. */
    public boolean told;

    /** Whether a notification about it was left, which its end makes obsolete. */
    public boolean noted;

    /** Whether an operator has asked its owner to give it up. */
    public boolean evicted;

    /** A hold without a token yet. */
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
      copy.atLeast = atLeast;
      copy.told = told;
      copy.noted = noted;
      copy.evicted = evicted;
      return copy;
    }

    /** Restarts its times from now; a null time leaves that of the hold unchanged. */
    final void restart(HoldTerms terms, long now) {
      if (terms.atMost() != null) {
        atMostUntil = now + micros(terms.atMost());
      }
      if (terms.atLeast() != null) {
        atLeastUntil = now + micros(terms.atLeast());
        atLeast = new AtLeastTime(atLeast == null ? 1 : atLeast.start() + 1, terms.atLeast());
      }
    }

    /** The lock does not stay shut after it. */
    final void dropAtLeast() {
      atLeastUntil = 0;
      atLeast = null;
    }

    final boolean isOver(long now) {
      return atMostUntil <= now;
    }
  }

  /**
   * An at-least time without a clock.
   *
   * @param start counts how often it was started: an observer counts from the last start
   */
  public record AtLeastTime(long start, Duration length) {}

  /**
   * One attempt in the queue.
   *
   * @param request the request at the time of queueing
   * @param ticket rises in the order of arrival
   * @param since the time of queueing
   */
  public record WaiterEntry(Request.Acquire request, long ticket, long since) {
    /** The waiting attempt. */
    public AttemptId attempt() {
      return request.attempt();
    }
  }

  /** The state of an attempt before its end, and the reason of the end. */
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
