package io.mortise.console.observer;

import io.mortise.admin.EndedHold;
import io.mortise.admin.EndedHold.EndCause;
import io.mortise.admin.LockParticipant;
import io.mortise.console.view.LockFormatter;
import io.mortise.console.view.LockFormatter.Condition;
import io.mortise.spi.time.DurationText;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Detects changes of a lock between two looks. Begins are exact, as the store reports their age; an
 * end was at some time between the looks.
 */
final class ChangeDetector {
  private final SeenLock before;
  private final SeenLock after;
  private final Duration between;
  private final List<ObservedEvent> events = new ArrayList<>();

  private ChangeDetector(SeenLock before, SeenLock after) {
    this.before = before;
    this.after = after;
    Duration between = Duration.between(before.at(), after.at());
    this.between = between.isNegative() ? Duration.ZERO : between;
  }

  /** Returns the changes in order of time. */
  static List<ObservedEvent> changes(SeenLock before, SeenLock after) {
    ChangeDetector detector = new ChangeDetector(before, after);
    if (before.full() && after.full()) {
      detector.compareAll();
    } else {
      detector.compareFirst();
      after.info().waiters().forEach(party -> detector.begin(ObservedKind.WAITING, party));
    }
    detector.compareShut();
    return detector.events;
  }

  private void compareAll() {
    Map<String, LockParticipant> held = byAttempt(before.info().holders());
    Map<String, LockParticipant> waited = byAttempt(before.info().waiters());
    Map<String, LockParticipant> holds = byAttempt(after.info().holders());
    Map<String, LockParticipant> waits = byAttempt(after.info().waiters());
    held.forEach(
        (attempt, party) -> {
          if (!holds.containsKey(attempt)) {
            end(party);
          }
        });
    boolean sameHolders = held.keySet().equals(holds.keySet());
    // The store lists a thousand waiters: one that is not listed may be behind them.
    boolean allWaiters = waits.size() == after.info().waiterCount();
    waited.forEach(
        (attempt, party) -> {
          if (!allWaiters || waits.containsKey(attempt) || holds.containsKey(attempt)) {
            return;
          }
          EndedHold told = after.info().lastEnd();
          if (told != null && told.attempt().equals(attempt)) {
            events.add(
                event(ObservedKind.ENDED, party, after.at(), null, between, null).explained(told));
            return;
          }
          String text =
              sameHolders
                  ? null
                  : "or it held the lock for less than " + DurationText.format(between);
          events.add(event(ObservedKind.GAVE_UP, party, after.at(), null, between, text));
        });
    holds.forEach(
        (attempt, party) -> {
          if (!held.containsKey(attempt)) {
            begin(ObservedKind.GRANTED, party);
          }
        });
    waits.forEach(
        (attempt, party) -> {
          if (!waited.containsKey(attempt)) {
            begin(ObservedKind.WAITING, party);
          }
        });
  }

  /** Surveys show only the first of several holders, so the others cannot be compared. */
  private void compareFirst() {
    if (before.holders() > 1
        || after.holders() > 1
        || before.holders() < 0
        || after.holders() < 0) {
      return;
    }
    String was = before.firstAttempt();
    String is = after.firstAttempt();
    if (was != null && !was.equals(is)) {
      LockParticipant party = before.first();
      Duration held = before.heldFor().plus(between);
      if (party != null) {
        end(party);
      } else {
        events.add(told(first(ObservedKind.ENDED, before, after.at(), held, between)));
      }
    }
    LockParticipant holder = after.first();
    if (is != null && !is.equals(was) && holder != null) {
      begin(ObservedKind.GRANTED, holder);
    } else if (is != null && !is.equals(was)) {
      boolean known = !after.heldFor().isZero();
      Instant at = known ? after.at().minus(after.heldFor()) : after.at();
      events.add(first(ObservedKind.GRANTED, after, at, null, known ? Duration.ZERO : between));
    }
  }

  private void compareShut() {
    boolean was = before.condition() == Condition.SHUT;
    boolean is = after.condition() == Condition.SHUT;
    if (is && !was) {
      events.add(
          ofLock(ObservedKind.SHUT, "for another " + DurationText.format(after.info().shutFor())));
    } else if (was && !is) {
      events.add(ofLock(ObservedKind.OPENED, null));
    }
  }

  private void end(LockParticipant party) {
    Duration held = party.since().isZero() ? null : party.since().plus(between);
    ObservedEvent ended = event(ObservedKind.ENDED, party, after.at(), held, between, null);
    ObservedEvent told = told(ended);
    // It was last seen to hold with an ended session, so it did not end by a release.
    events.add(
        told.kind() == ObservedKind.ENDED && LockFormatter.isGone(party)
            ? ended.explained(new EndedHold(party.attempt(), EndCause.SESSION_EXPIRED))
            : told);
  }

  /** Adds the cause of the end, if the later look shows the end of this very hold. */
  private ObservedEvent told(ObservedEvent ended) {
    EndedHold told = after.info().lastEnd();
    return told != null && told.attempt().equals(ended.attempt()) ? ended.explained(told) : ended;
  }

  private void begin(ObservedKind kind, LockParticipant party) {
    boolean known = !party.since().isZero();
    events.add(
        event(
            kind,
            party,
            known ? after.at().minus(party.since()) : after.at(),
            null,
            known ? Duration.ZERO : between,
            null));
  }

  private ObservedEvent event(
      ObservedKind kind,
      LockParticipant party,
      Instant at,
      @Nullable Duration held,
      Duration doubt,
      @Nullable String text) {
    return ObservedEvent.ofParty(at, kind, after.name(), party, held, doubt, text);
  }

  private ObservedEvent first(
      ObservedKind kind, SeenLock lock, Instant at, @Nullable Duration held, Duration doubt) {
    String attempt = lock.firstAttempt();
    return new ObservedEvent(
        0,
        at,
        kind,
        lock.name(),
        attempt == null ? null : SeenLock.session(attempt),
        null,
        lock.firstLabel(),
        attempt,
        0,
        held,
        doubt,
        null);
  }

  private ObservedEvent ofLock(ObservedKind kind, @Nullable String text) {
    return ObservedEvent.ofLock(after.at(), kind, after.name(), between, text);
  }

  private static Map<String, LockParticipant> byAttempt(List<LockParticipant> parties) {
    Map<String, LockParticipant> map = new LinkedHashMap<>();
    parties.forEach(party -> map.put(party.attempt(), party));
    return map;
  }
}
