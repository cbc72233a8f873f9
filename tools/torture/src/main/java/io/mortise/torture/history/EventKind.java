package io.mortise.torture.history;

import org.jspecify.annotations.Nullable;

/** What an event says. The letter stands for it in a history. */
public enum EventKind {
  /** A worker begins to ask for a lock. {@code more}: 1 if it does not wait. */
  ASKS('A'),
  /** It holds, and has just seen its lease valid. {@code token}: of the lease, 0 if it has none. */
  HOLDS('G'),
  /** The store shows its wait, or its hold already. */
  QUEUED('Q'),
  /** It was told that it holds, with a lease that was not valid any more. */
  STALE('g'),
  /** The moment before it saw its lease valid once more. */
  SURE('S'),
  /** It saw its lease invalid. */
  LOST('L'),
  /** It gave the lock back, and was told that all was well until then. */
  GAVE('R'),
  /** It gave the lock back, and was told that it had been lost. */
  GAVE_LOST('E'),
  /** It was told that somebody else holds. */
  BUSY('B'),
  /** It waited for as long as it wanted. */
  TIMED_OUT('T'),
  /** The store did not answer. */
  OUTAGE('O'),
  /** The guarded resource took its write. {@code token}: what it was guarded by, 0 for nothing. */
  WROTE('W'),
  /** The guarded resource refused it as stale. {@code more}: 1 if its lease was valid still. */
  REFUSED('X'),
  /** What a counter of the resource says when all is over. {@code token}: the value. */
  FINAL('V'),
  /** A fault begins. {@code lock}: its name; {@code worker}: the process it is done to, or 0. */
  FAULT('F'),
  /** It is over. */
  HEALED('H'),
  /** A process was killed. {@code worker}: the process. */
  KILLED('K'),
  /** From now on what it asks of the store cannot be answered. {@code worker}: as of a fault. */
  DOWN('D'),
  /** The moment before it can be answered again. */
  UP('U'),
  /** The host has not run a process for a while. {@code token}: nanoseconds. */
  STALLED('P'),
  /** Cycles that were not written down one by one. {@code lock}: kind; {@code token}: how many. */
  CYCLES('N'),
  /** A worker that writes nothing down saw a promise broken. {@code lock}: which one. */
  BROKEN('!'),
  /** When all is over, somebody still holds or waits for a lock. {@code more}: how many. */
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
   * The kind of a letter.
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
