package io.mortise.console.observer;

import io.mortise.admin.EndedHold;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockParticipant.ClientInfo;
import io.mortise.console.view.LockFormatter;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Something that was seen to have happened.
 *
 * @param seq its number; 0 until it is kept
 * @param lock null for what concerns a process
 * @param session null for what concerns all
 * @param client the process; null if it is not known
 * @param attempt null if there is none
 * @param token 0 if there is none
 * @param held how long it had held; null if that is not the question
 * @param doubt how much earlier it may have been
 * @param text null if there is no more to say
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
   * What a holder or waiter did, or what became of it.
   *
   * @param held how long it had held; null if this is no end of a hold
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
   * What became of a lock by nobody who holds it or waits.
   *
   * @param lock null if it is of the whole store
   */
  public static ObservedEvent ofLock(
      Instant at, ObservedKind kind, @Nullable String lock, Duration doubt, @Nullable String text) {
    return new ObservedEvent(0, at, kind, lock, null, null, "", null, 0, null, doubt, text);
  }

  /** A time in which nothing was seen: as long as {@code held}, until {@code at}. */
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

  /** The end of a hold while no console ran: nobody knows when. */
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

  /** This end of a hold, as the record of its lock tells it. */
  ObservedEvent explained(EndedHold end) {
    return switch (end.cause()) {
      case RELEASED -> as(ObservedKind.RELEASED, kind == ObservedKind.LOST ? null : text);
      case EVICTED -> as(ObservedKind.EVICTED, LockFormatter.cause(end));
      case AT_MOST, SESSION_EXPIRED -> as(ObservedKind.LOST, LockFormatter.cause(end));
    };
  }

  /** This end of a hold, of which no record tells any more. */
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
