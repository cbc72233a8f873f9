package io.mortise.testkit.history;

import io.mortise.spi.Mode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The history of one attempt, gathered from its events. */
final class AttemptHistory {
  static final long NEVER = Long.MAX_VALUE;

  final String id;
  final String process;
  final String lock;
  final long asked;
  final Mode wanted;
  private Mode mode;
  long queued = NEVER;
  long granted = NEVER;

  /** The time at which it stopped waiting or believing, by an event rather than by time alone. */
  long ended = NEVER;

  /** Ended by others: excuses a lost place in the queue, regardless of the time of detection. */
  boolean lost;

  long token;

  /** The times during which the holder counted on it. */
  final List<CheckedHold<AttemptHistory>> belief = new ArrayList<>();

  private long since;
  private long validUntil;

  private AttemptHistory(AttemptEvent.AttemptAsked asked) {
    this.id = asked.attempt();
    this.process = asked.process();
    this.lock = asked.lock();
    this.asked = asked.nanos();
    this.wanted = asked.mode();
    this.mode = wanted;
  }

  boolean wasGranted() {
    return granted != NEVER;
  }

  CheckedHold<AttemptHistory> hold() {
    return new CheckedHold<>(this, wanted, asked, granted, ended, token);
  }

  /** A place that was lost in the queue is no reason to blame anybody. */
  CheckedWait<AttemptHistory> waiting() {
    boolean counts = wasGranted() || !lost;
    return new CheckedWait<>(
        this, asked, counts ? queued : NEVER, wasGranted() ? granted : ended, wasGranted(), token);
  }

  /** Gathers the attempts of a history, in the order in which they asked. */
  static Collection<AttemptHistory> gather(List<AttemptEvent> events) {
    List<AttemptEvent> sorted = new ArrayList<>(events);
    sorted.sort(Comparator.comparingLong(AttemptEvent::nanos));
    Map<String, AttemptHistory> attemptHistories = new LinkedHashMap<>();
    for (AttemptEvent event : sorted) {
      if (event instanceof AttemptEvent.AttemptAsked asked) {
        if (attemptHistories.put(asked.attempt(), new AttemptHistory(asked)) != null) {
          throw new IllegalArgumentException("Two attempts are called '" + asked.attempt() + "'.");
        }
      } else if (event instanceof AttemptEvent.AttemptQueued queued) {
        AttemptHistory attempt = of(attemptHistories, queued.attempt());
        attempt.queued = Math.min(attempt.queued, queued.nanos());
      } else if (event instanceof AttemptEvent.AttemptGranted granted) {
        of(attemptHistories, granted.attempt()).grant(granted);
      } else if (event instanceof AttemptEvent.AttemptExtended extended) {
        of(attemptHistories, extended.attempt()).extend(extended.nanos(), extended.validUntil());
      } else if (event instanceof AttemptEvent.AttemptNarrowed narrowed) {
        of(attemptHistories, narrowed.attempt()).narrow(narrowed.nanos(), narrowed.mode());
      } else if (event instanceof AttemptEvent.AttemptGivenUp gaveUp) {
        of(attemptHistories, gaveUp.attempt()).end(gaveUp.nanos(), false);
      } else if (event instanceof AttemptEvent.AttemptReleased released) {
        of(attemptHistories, released.attempt()).end(released.nanos(), false);
      } else if (event instanceof AttemptEvent.AttemptLost lost) {
        of(attemptHistories, lost.attempt()).end(lost.nanos(), true);
      } else if (event instanceof AttemptEvent.ProcessDied died) {
        attemptHistories.values().stream()
            .filter(attempt -> attempt.process.equals(died.process()))
            .forEach(attempt -> attempt.end(died.nanos(), true));
      }
    }
    attemptHistories.values().forEach(attempt -> attempt.close(NEVER));
    return attemptHistories.values();
  }

  private static AttemptHistory of(Map<String, AttemptHistory> attemptHistories, String id) {
    AttemptHistory attempt = attemptHistories.get(id);
    if (attempt == null) {
      throw new IllegalArgumentException("Attempt '" + id + "' has an event before it asked.");
    }
    return attempt;
  }

  private void grant(AttemptEvent.AttemptGranted event) {
    granted = event.nanos();
    token = event.token();
    if (ended == NEVER) {
      since = event.nanos();
      validUntil = event.validUntil();
    }
  }

  /** A hold extended after its end by time is believed in again: the error to be detected. */
  private void extend(long now, long until) {
    if (wasGranted() && ended == NEVER) {
      if (validUntil <= now) {
        close(now);
        since = now;
      }
      validUntil = until;
    }
  }

  private void narrow(long now, Mode narrower) {
    if (wasGranted() && ended == NEVER) {
      close(now);
      since = now;
      mode = narrower;
    }
  }

  private void end(long now, boolean byOthers) {
    lost |= byOthers && ended == NEVER;
    if (ended == NEVER) {
      close(now);
      ended = now;
    }
  }

  private void close(long now) {
    long to = Math.min(now, validUntil);
    if (wasGranted() && ended == NEVER && since < to) {
      belief.add(new CheckedHold<>(this, mode, asked, since, to, token));
    }
  }
}
