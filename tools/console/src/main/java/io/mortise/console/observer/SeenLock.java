package io.mortise.console.observer;

import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.console.view.LockFormatter;
import io.mortise.console.view.LockFormatter.Condition;
import io.mortise.spi.AttemptId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * A lock as observed at one moment.
 *
 * @param info with the reported holders and waiters
 * @param holders the number of holders; -1 for some
 * @param waiters the number of waiters; -1 for some
 * @param firstAttempt of the first holder; null if there is none or it was not reported
 * @param firstLabel the first holder's label
 * @param firstSince the time that it had held; zero if not reported
 * @param full whether all holders and waiters are known, or only the first holder
 * @param at the time of the look
 * @param nanos the time of the request, to order looks
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
  /** The error of clocks and rounding. */
  private static final Duration SAME_END = Duration.ofSeconds(1);

  /** From an inspection of one lock. */
  static SeenLock of(LockInfo info, Instant at, long nanos) {
    @Nullable LockParticipant first = info.holders().isEmpty() ? null : info.holders().get(0);
    return new SeenLock(
        info,
        info.holderCount(),
        info.waiterCount(),
        first == null ? null : first.attempt(),
        first == null ? "" : first.label(),
        first == null ? Duration.ZERO : first.since(),
        true,
        at,
        nanos);
  }

  /** From a summary in a survey. */
  static SeenLock ofSummary(LockInfo line, Instant at, long nanos) {
    LockInfo info =
        LockInfo.summary(
            line.name(),
            line.permits(),
            line.holderCount(),
            line.waiterCount(),
            null,
            line.shutFor());
    SeenLock told = of(line, at, nanos);
    return new SeenLock(
        info,
        line.holderCount(),
        line.waiterCount(),
        told.firstAttempt,
        told.firstLabel,
        told.firstSince,
        false,
        at,
        nanos);
  }

  /** A lock unknown to the store. */
  public static SeenLock free(String name, Instant at, long nanos) {
    return of(
        new LockInfo(name, OptionalInt.empty(), 0, Duration.ZERO, List.of(), List.of(), 0, 0, null),
        at,
        nanos);
  }

  /** The same look, confirmed by a later survey. */
  SeenLock askedAgain(long later) {
    return new SeenLock(
        info, holders, waiters, firstAttempt, firstLabel, firstSince, full, at, later);
  }

  /** Whether this line of a survey shows the same holder and as many waiters as a look. */
  boolean agrees(SeenLock look) {
    return holders == look.holders
        && Objects.equals(firstAttempt, look.firstAttempt)
        && (waiters < 0 ? look.isWaited() : waiters == look.waiters);
  }

  /**
   * Whether it looks the same as another look at this lock, apart from ages that grew with the time
   * in between.
   */
  boolean looksLike(SeenLock other) {
    return full == other.full
        && holders == other.holders
        && waiters == other.waiters
        && Objects.equals(firstAttempt, other.firstAttempt)
        && firstLabel.equals(other.firstLabel)
        && info.permits().equals(other.info.permits())
        && info.lastToken() == other.info.lastToken()
        && Objects.equals(info.lastEnd(), other.info.lastEnd())
        && condition() == other.condition()
        && endsAlike(info.shutFor(), other, other.info.shutFor())
        && isAlike(info.holders(), other, other.info.holders())
        && isAlike(info.waiters(), other, other.info.waiters());
  }

  private boolean isAlike(
      List<LockParticipant> parties, SeenLock other, List<LockParticipant> others) {
    if (parties.size() != others.size()) {
      return false;
    }
    for (int i = 0; i < parties.size(); i++) {
      if (!isAlike(parties.get(i), other, others.get(i))) {
        return false;
      }
    }
    return true;
  }

  private boolean isAlike(LockParticipant party, SeenLock other, LockParticipant same) {
    return party.attempt().equals(same.attempt())
        && party.token() == same.token()
        && party.share().equals(same.share())
        && party.sticky() == same.sticky()
        && Objects.equals(party.client(), same.client())
        && party.sessionTtl().equals(same.sessionTtl())
        && endsAlike(party.sessionLeft(), other, same.sessionLeft())
        && endsAlike(party.atMostLeft(), other, same.atMostLeft());
  }

  /** Whether both remaining times end at the same moment, which a renewal moves. */
  private boolean endsAlike(@Nullable Duration left, SeenLock other, @Nullable Duration others) {
    if (left == null || others == null || left.isZero() || others.isZero()) {
      return Objects.equals(left, others);
    }
    Duration apart = Duration.between(other.at.plus(others), at.plus(left)).abs();
    return apart.compareTo(SAME_END) <= 0;
  }

  /** Its name. */
  public String name() {
    return info.name();
  }

  /** Its condition, according to this look. */
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

  /** Whether it has waiters. */
  public boolean isWaited() {
    return waiters != 0;
  }

  /** The first holder; null if not reported in full. */
  public @Nullable LockParticipant first() {
    return info.holders().isEmpty() ? null : info.holders().get(0);
  }

  /** The time that the first holder has held; zero if there is none or it was not reported. */
  public Duration heldFor() {
    return firstSince;
  }

  /** The latest possible begin of the first holder's hold. */
  Instant heldSince() {
    return at.minus(firstSince);
  }

  /** {@link #heldFor()} at a common time, to compare locks seen at different times. */
  public Duration heldAt(Instant time) {
    return firstSince.isZero() ? firstSince : firstSince.plus(Duration.between(at, time));
  }

  /** The time that the first waiter has waited; null if not reported. */
  public @Nullable Duration waitedFor() {
    return info.waiters().isEmpty() ? null : info.waiters().get(0).since();
  }

  /** {@link #waitedFor()} at that time. */
  public @Nullable Duration waitedAt(Instant time) {
    Duration waited = waitedFor();
    return waited == null ? null : waited.plus(Duration.between(at, time));
  }

  /** The group of a name: its part up to the last slash. */
  public static String group(String name) {
    return name.substring(0, name.lastIndexOf('/') + 1);
  }

  /** The session of an attempt. */
  public static String session(String attempt) {
    return AttemptId.parse(attempt).session().value();
  }
}
