package io.mortise;

import java.util.OptionalInt;

/**
 * The lock was not granted in time, or too many waited for it. Nothing of the attempt stays behind.
 *
 * <p>If the time of an acquire was over, its message names the obstacle, as far as this client
 * knows: this thread, other threads of the process, a possible deadlock of threads, or the attempt
 * of another client, in this process or in another. The message of a group names the obstacle of
 * the lock that was not granted.
 *
 * <p>If the time of an acquire was over, and the store gave no answer for half of the wait or more,
 * its cause is a {@link StoreUnavailableException}.
 */
public final class LockTimeoutException extends LockException {
  private static final long serialVersionUID = 1L;
  private static final int NOT_COUNTED = -1;

  private final int waiting;

  /** Creates it with a message that names the lock, the event and the remedy. */
  public LockTimeoutException(String message) {
    super(message);
    this.waiting = NOT_COUNTED;
  }

  /** Creates it with such a message and a cause. */
  public LockTimeoutException(String message, Throwable cause) {
    super(message, cause);
    this.waiting = NOT_COUNTED;
  }

  /**
   * Creates it for an acquire refused at once, since too many wait already.
   *
   * @param waiting how many wait
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
