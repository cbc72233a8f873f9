package io.mortise.console.internal.observer;

import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockSummary;
import io.mortise.console.view.LockFormatter;
import io.mortise.console.view.LockFormatter.Condition;
import io.mortise.spi.AttemptId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * A lock as it was seen at one moment.
 *
 * @param info holders and waiters as far as they were told
 * @param holders how many there are; -1 for some
 * @param waiters how many there are; -1 for some
 * @param firstAttempt of the first holder; null if there is none or it was not told
 * @param firstLabel the same one's label
 * @param firstSince for how long it had held; zero if that was not told
 * @param full whether each holder and waiter was told, or only the first holder
 * @param at when
 * @param nanos when the store was asked, to put looks in order
 */
public record SeenLock(
    LockInfo info,
    int holders,
    int waiters,
    @Nullable String firstAttempt,
    String firstLabel,
    Duration firstSince,
    boolean full,
    Instant at,
    long nanos) {

  /** Of a look at one lock. */
  static SeenLock of(LockInfo info, Instant at, long nanos) {
    @Nullable LockParticipant first = info.holders().isEmpty() ? null : info.holders().get(0);
    return new SeenLock(
        info,
        info.holders().size(),
        info.waiters().size(),
        first == null ? null : first.attempt(),
        first == null ? "" : first.label(),
        first == null ? Duration.ZERO : first.since(),
        true,
        at,
        nanos);
  }

  /** Of a line of a survey. */
  static SeenLock of(LockSummary line, Instant at, long nanos) {
    LockInfo info =
        new LockInfo(line.name(), line.permits(), 0, line.shutFor(), List.of(), List.of());
    return new SeenLock(
        info,
        line.holders(),
        line.waiters(),
        line.firstAttempt(),
        line.firstLabel(),
        line.firstSince(),
        false,
        at,
        nanos);
  }

  /** Of a lock that the store knows nothing of. */
  public static SeenLock free(String name, Instant at, long nanos) {
    return of(
        new LockInfo(name, OptionalInt.empty(), 0, Duration.ZERO, List.of(), List.of()), at, nanos);
  }

  /** The same look, which a later survey has not contradicted. */
  SeenLock askedAgain(long later) {
    return new SeenLock(
        info, holders, waiters, firstAttempt, firstLabel, firstSince, full, at, later);
  }

  /** Its name. */
  public String name() {
    return info.name();
  }

  /** What it is, as far as it was told. */
  public Condition condition() {
    if (full) {
      return LockFormatter.condition(info);
    }
    if (holders != 0) {
      return Condition.HELD;
    } else if (!info.shutFor().isZero()) {
      return Condition.SHUT;
    }
    return waiters == 0 ? Condition.FREE : Condition.CHANGING_HANDS;
  }

  boolean isFree() {
    return condition() == Condition.FREE;
  }

  /** Whether somebody waits. */
  public boolean isWaited() {
    return waiters != 0;
  }

  /** The first holder; null if it was not told in full. */
  public @Nullable LockParticipant first() {
    return info.holders().isEmpty() ? null : info.holders().get(0);
  }

  /** How long the first holder has held; zero if nobody does or it was not told. */
  public Duration heldFor() {
    return firstSince;
  }

  /** How long the first waiter has waited; null if it was not told. */
  public @Nullable Duration waitedFor() {
    return info.waiters().isEmpty() ? null : info.waiters().get(0).since();
  }

  /** The session of an attempt. */
  public static String session(String attempt) {
    return AttemptId.parse(attempt).session().value();
  }
}
