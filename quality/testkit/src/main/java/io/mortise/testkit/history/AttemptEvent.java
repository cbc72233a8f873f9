package io.mortise.testkit.history;

import io.mortise.spi.Mode;

/**
 * One event in the life of an attempt, as its own process saw it.
 *
 * <p>All events of a history carry nanoseconds of one clock. A recorder of a process whose clock
 * runs differently translates the times first, above all {@code validUntil}.
 */
public sealed interface AttemptEvent {
  /** When, on the clock of the history. */
  long nanos();

  /**
   * An acquire was called. The first event of each attempt.
   *
   * @param attempt unique within the history
   * @param process the owner; {@link ProcessDied} names it
   */
  record AttemptAsked(long nanos, String attempt, String process, String lock, Mode mode)
      implements AttemptEvent {}

  /** The store confirmed that the attempt stands in its queue. */
  record AttemptQueued(long nanos, String attempt) implements AttemptEvent {}

  /**
   * The acquire returned with a lease.
   *
   * @param token its fencing token, 0 if the store has none
   * @param validUntil the end of the holder's belief without further events
   */
  record AttemptGranted(long nanos, String attempt, long token, long validUntil)
      implements AttemptEvent {}

  /** A renewal moved the end of the holder's belief. */
  record AttemptExtended(long nanos, String attempt, long validUntil) implements AttemptEvent {}

  /** The holder asked to narrow its mode, and relies on no more from then on. */
  record AttemptNarrowed(long nanos, String attempt, Mode mode) implements AttemptEvent {}

  /** The waiter decided to wait no longer; recorded before the cancel is sent. */
  record AttemptGivenUp(long nanos, String attempt) implements AttemptEvent {}

  /** The holder called release; recorded before it is sent. */
  record AttemptReleased(long nanos, String attempt) implements AttemptEvent {}

  /** The process learned that the hold, or the place in the queue, is lost. */
  record AttemptLost(long nanos, String attempt) implements AttemptEvent {}

  /** The process crashed, and all its attempts with it. */
  record ProcessDied(long nanos, String process) implements AttemptEvent {}
}
