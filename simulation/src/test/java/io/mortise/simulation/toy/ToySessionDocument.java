package io.mortise.simulation.toy;

import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
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
 * @param notes which holds are wanted, until its owner has acknowledged that
 */
record ToySessionDocument(
    long beat, long ends, @Nullable ClientLabel client, List<Contended> notes) {
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
    return new ToySessionDocument(next, now + spec.ttl().toNanos() / 1000, spec.client(), notes)
        .withNotes(notes.stream().filter(note -> !seen.contains(note.attempt().number())));
  }

  ToySessionDocument judge(long now) {
    return isOver() || isAlive(now) ? this : close();
  }

  ToySessionDocument close() {
    return equals(ABSENT) ? this : new ToySessionDocument(OVER, ends, null, List.of());
  }

  ToySessionDocument addNote(Contended note, long now) {
    Stream<Contended> others = notes.stream().filter(other -> !other.equals(note));
    return isAlive(now) ? withNotes(Stream.concat(others, Stream.of(note))) : this;
  }

  ToySessionDocument removeNote(LockName name, AttemptId attempt) {
    Contended note = new Contended(name, attempt);
    return withNotes(notes.stream().filter(other -> !other.equals(note)));
  }

  private ToySessionDocument withNotes(Stream<Contended> some) {
    return new ToySessionDocument(beat, ends, client, some.toList());
  }
}
