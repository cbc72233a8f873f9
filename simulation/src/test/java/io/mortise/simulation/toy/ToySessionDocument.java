package io.mortise.simulation.toy;

import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.Renewal.NumberedNotification;
import io.mortise.spi.SessionNotification.Contended;
import io.mortise.spi.SessionSpec;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A session. The document of one that has ended stays for a while, so that no late renewal revives
 * it.
 *
 * @param ends when it ends without a further renewal, in microseconds of the store's clock
 * @param closed whether it has ended before, for good
 * @param lastNote the number of the newest note ever left
 * @param notes what renewals tell until it is acknowledged
 */
record ToySessionDocument(
    long beat,
    long ends,
    boolean closed,
    @Nullable ClientLabel client,
    long lastNote,
    List<NumberedNotification> notes) {
  /** A session that never was, or was forgotten. */
  static final ToySessionDocument ABSENT = new ToySessionDocument(0, 0, true, null, 0, List.of());

  static ToySessionDocument of(SessionSpec spec, long now) {
    return new ToySessionDocument(0, ends(spec, now), false, spec.client(), 0, List.of());
  }

  private static long ends(SessionSpec spec, long now) {
    return now + spec.ttl().toNanos() / 1000;
  }

  boolean isAlive(long now) {
    return !closed && now < ends;
  }

  /** What is left; zero if the session should be judged. */
  Duration left(long now) {
    return isAlive(now) ? Duration.ofNanos((ends - now) * 1000) : Duration.ZERO;
  }

  ToySessionDocument renewed(SessionSpec spec, long next, List<Long> seen, long now) {
    List<NumberedNotification> unseen =
        notes.stream().filter(note -> !seen.contains(note.id())).toList();
    return new ToySessionDocument(next, ends(spec, now), false, client, lastNote, unseen);
  }

  /** With a note, if the session lives and has none of that hold. */
  ToySessionDocument with(Contended note, long now) {
    if (!isAlive(now) || notes.stream().anyMatch(other -> other.notifications().equals(note))) {
      return this;
    }
    long id = lastNote + 1;
    Stream<NumberedNotification> more =
        Stream.concat(notes.stream(), Stream.of(new NumberedNotification(id, note)));
    return new ToySessionDocument(beat, ends, false, client, id, more.toList());
  }

  ToySessionDocument withoutNotesOf(AttemptId attempt) {
    List<NumberedNotification> others =
        notes.stream().filter(note -> !note.notifications().attempt().equals(attempt)).toList();
    return others.size() == notes.size()
        ? this
        : new ToySessionDocument(beat, ends, closed, client, lastNote, others);
  }

  ToySessionDocument close() {
    return closed ? this : new ToySessionDocument(beat, ends, true, null, lastNote, List.of());
  }
}
