package io.mortise.console.observer;

import io.mortise.admin.EndedHold;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockParticipant.ClientInfo;
import io.mortise.console.view.LockFormatter;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An observed event.
 *
 * @param seq its number; 0 until it is stored
 * @param lock null if it concerns a process
 * @param session null if it concerns no single session
 * @param client the process; null if unknown
 * @param attempt null if there is none
 * @param token 0 if there is none
 * @param held the duration of the hold; null if not applicable
 * @param doubt by how much it may have been earlier
 * @param text null if there is no further text
 */
public record ObservedEvent(
    long seq,
    Instant at,
    ObservedKind kind,
    @Nullable String lock,
    @Nullable String session,
    @Nullable ClientInfo client,
    String label,
    @Nullable String attempt,
    long token,
    @Nullable Duration held,
    Duration doubt,
    @Nullable String text) {

  /**
   * An event of a holder or waiter.
   *
   * @param held the duration of the hold; null if this is no end of a hold
   */
  public static ObservedEvent ofParty(
      Instant at,
      ObservedKind kind,
      String lock,
      LockParticipant party,
      @Nullable Duration held,
      Duration doubt,
      @Nullable String text) {
    return new ObservedEvent(
        0,
        at,
        kind,
        lock,
        SeenLock.session(party.attempt()),
        party.client(),
        party.label(),
        party.attempt(),
        party.token(),
        held,
        doubt,
        text);
  }

  /**
   * An event of a lock without a holder or waiter.
   *
   * @param lock null if it concerns the whole store
   */
  public static ObservedEvent ofLock(
      Instant at, ObservedKind kind, @Nullable String lock, Duration doubt, @Nullable String text) {
    return new ObservedEvent(0, at, kind, lock, null, null, "", null, 0, null, doubt, text);
  }

  /** A gap in observation: as long as {@code held}, until {@code at}. */
  static ObservedEvent gap(Instant from, Instant to, String text) {
    return new ObservedEvent(
        0,
        to,
        ObservedKind.GAP,
        null,
        null,
        null,
        "",
        null,
        0,
        Duration.between(from, to),
        Duration.ZERO,
        text);
  }

  /** The end of a hold while no console ran, at an unknown time. */
  ObservedEvent endedUnseen(Instant now) {
    Duration held = Duration.between(at, now);
    return new ObservedEvent(
        0,
        now,
        ObservedKind.ENDED,
        lock,
        session,
        client,
        label,
        attempt,
        token,
        held,
        held,
        "while the console did not run");
  }

  ObservedEvent withSeq(long number) {
    return new ObservedEvent(
        number, at, kind, lock, session, client, label, attempt, token, held, doubt, text);
  }

  /** This end of a hold, with the cause from the lock's record. */
  ObservedEvent explained(EndedHold end) {
    return switch (end.cause()) {
      case RELEASED -> as(ObservedKind.RELEASED, kind == ObservedKind.LOST ? null : text);
      case EVICTED -> as(ObservedKind.EVICTED, LockFormatter.cause(end));
      case AT_MOST, SESSION_EXPIRED -> as(ObservedKind.LOST, LockFormatter.cause(end));
    };
  }

  /** This end of a hold, whose cause is no longer recorded. */
  ObservedEvent unexplained() {
    return as(kind, text == null ? "not seen how" : "not seen how, " + text);
  }

  ObservedEvent as(ObservedKind other, @Nullable String why) {
    return new ObservedEvent(
        seq, at, other, lock, session, client, label, attempt, token, held, doubt, why);
  }

  ObservedEvent by(@Nullable ClientInfo process) {
    return new ObservedEvent(
        seq, at, kind, lock, session, process, label, attempt, token, held, doubt, text);
  }
}
