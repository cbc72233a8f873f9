package io.mortise.torture.history;

import org.jspecify.annotations.Nullable;

/** The kind of an event, with its letter in a history. */
public enum EventKind {
  /** A worker starts to acquire a lock. {@code more}: 1 if it does not wait. */
  ASKS('A'),
  /** It holds, having just seen its lease valid. {@code token}: of the lease, 0 if it has none. */
  HOLDS('G'),
  /** The store shows its wait, or already its hold. */
  QUEUED('Q'),
  /** It was granted a lease that was no longer valid. */
  STALE('g'),
  /** The moment before it saw its lease valid again. */
  SURE('S'),
  /** It saw its lease invalid. */
  LOST('L'),
  /** It released the lock, which was confirmed as held until then. */
  GAVE('R'),
  /** It released the lock, and learned that it had been lost. */
  GAVE_LOST('E'),
  /** It was told that another worker holds. */
  BUSY('B'),
  /** Its wait timed out. */
  TIMED_OUT('T'),
  /** The store did not answer. */
  OUTAGE('O'),
  /** The guarded resource accepted its write. {@code token}: the guarding token, 0 for none. */
  WROTE('W'),
  /**
   * The guarded resource refused its write as stale. {@code more}: 1 if its lease was still valid.
   */
  REFUSED('X'),
  /** The final value of a counter of the resource. {@code token}: the value. */
  FINAL('V'),
  /** A fault begins. {@code lock}: its name; {@code worker}: the affected process, or 0. */
  FAULT('F'),
  /** A fault ends. */
  HEALED('H'),
  /** A process was killed. {@code worker}: the process. */
  KILLED('K'),
  /** The store cannot answer from now on. {@code worker}: as of a fault. */
  DOWN('D'),
  /** The moment before the store can answer again. */
  UP('U'),
  /** The host did not run a process for a while. {@code token}: nanoseconds. */
  STALLED('P'),
  /** Cycles that were only counted. {@code lock}: kind; {@code token}: their number. */
  CYCLES('N'),
  /** A worker that only counts saw a broken promise. {@code lock}: the promise. */
  BROKEN('!'),
  /** At the end a lock still has holders or waiters. {@code more}: their number. */
  LEFT('Z');

  private static final @Nullable EventKind[] BY_LETTER = new EventKind[128];

  static {
    for (EventKind eventKind : values()) {
      BY_LETTER[eventKind.letter] = eventKind;
    }
  }

  final char letter;

  EventKind(char letter) {
    this.letter = letter;
  }

  /**
   * Returns the kind of a letter.
   *
   * @throws IllegalArgumentException if none has it
   */
  static EventKind of(char letter) {
    EventKind eventKind = letter < BY_LETTER.length ? BY_LETTER[letter] : null;
    if (eventKind == null) {
      throw new IllegalArgumentException("No event has the letter '" + letter + "'.");
    }
    return eventKind;
  }
}
