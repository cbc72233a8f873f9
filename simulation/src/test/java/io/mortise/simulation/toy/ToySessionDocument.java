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
 * @param beat the beat of the last renewal; {@link #OVER} if the session has ended for good
 * @param ends when it ends without a further renewal, in microseconds of the store's clock
 * @param notes which holds are wanted, numbered by their attempts; told until acknowledged
 */
record ToySessionDocument(
    long beat, long ends, @Nullable ClientLabel client, List<NumberedNotification> notes) {
  private static final long OVER = -1;

  /** A session that never was, or that is forgotten. */
  static final ToySessionDocument ABSENT = new ToySessionDocument(OVER, 0, null, List.of());

  boolean isOver() {
    return beat == OVER;
  }

  boolean isAlive(long now) {
    return !isOver() && now < ends;
  }

  /** What is left of it; zero if it should be judged. */
  Duration left(long now) {
    return isAlive(now) ? Duration.ofNanos((ends - now) * 1000) : Duration.ZERO;
  }

  /** Compares and sets the beat. */
  ToySessionDocument renew(SessionSpec spec, long previous, long next, List<Long> seen, long now) {
    boolean first = equals(ABSENT) && previous == 0;
    if (!first && (!isAlive(now) || (beat != previous && beat != next))) {
      return this;
    }
    return new ToySessionDocument(
        next, now + spec.ttl().toNanos() / 1000, spec.client(), notesBut(seen));
  }

  ToySessionDocument judge(long now) {
    return isOver() || isAlive(now) ? this : close();
  }

  ToySessionDocument close() {
    return equals(ABSENT) ? this : new ToySessionDocument(OVER, ends, null, List.of());
  }

  ToySessionDocument addNote(Contended note, long now) {
    long id = note.attempt().number();
    return isAlive(now)
        ? new ToySessionDocument(
            beat,
            ends,
            client,
            Stream.concat(
                    notesBut(List.of(id)).stream(), Stream.of(new NumberedNotification(id, note)))
                .toList())
        : this;
  }

  ToySessionDocument removeNote(AttemptId attempt) {
    return new ToySessionDocument(beat, ends, client, notesBut(List.of(attempt.number())));
  }

  private List<NumberedNotification> notesBut(List<Long> ids) {
    return notes.stream().filter(note -> !ids.contains(note.id())).toList();
  }
}
