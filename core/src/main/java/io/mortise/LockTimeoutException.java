package io.mortise;

import java.util.OptionalInt;

/**
 * The lock could not be had in time, or too many waited for it. Nothing of the attempt stays
 * behind.
 *
 * <p>If the time of an acquire was over, its message names what was in the way, as far as this
 * client knows: this thread, other threads of the process, a possible deadlock of threads, or the
 * attempt of another client, in this process or in another. That of a group tells it of the lock
 * that was not granted.
 *
 * <p>If the time of an acquire was over, and the store gave no answer for half of the wait or more,
 * its cause is a {@link StoreUnavailableException}.
 */
public final class LockTimeoutException extends LockException {
  private static final long serialVersionUID = 1L;
  private static final int NOT_COUNTED = -1;

  private final int waiting;

  /** With a message that tells what happened, to which lock, and what to do. */
  public LockTimeoutException(String message) {
    super(message);
    this.waiting = NOT_COUNTED;
  }

  /** With such a message, and with what caused it. */
  public LockTimeoutException(String message, Throwable cause) {
    super(message, cause);
    this.waiting = NOT_COUNTED;
  }

  /**
   * Refused without waiting, since others wait already.
   *
   * @param waiting how many
   */
  public LockTimeoutException(String message, int waiting) {
    super(message);
    this.waiting = waiting;
  }

  /**
   * How many waited already, if the acquire was refused at once for {@link
   * LockOptions#withMaxWaiters}; empty if its time was over.
   */
  public OptionalInt waiting() {
    return waiting == NOT_COUNTED ? OptionalInt.empty() : OptionalInt.of(waiting);
  }
}
