package io.mortise.recipe;

import io.mortise.annotation.Beta;

/**
 * The generation of a barrier that this party waited in has ended without all of its parties. Each
 * of its waiting parties gets this, or the reason itself: a timeout, a cancellation. A party may
 * enter again: the barrier has a new generation.
 *
 * <p>It is no {@code io.mortise.LockException}: neither the store nor a lock has failed.
 */
@Beta
public final class BarrierBrokenException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final Reason reason;

  /** Creates it with a message that names the barrier, its generation and the reason. */
  public BarrierBrokenException(String message, Reason reason) {
    super(message);
    this.reason = reason;
  }

  /** The reason why the generation broke. */
  public Reason reason() {
    return reason;
  }

  /** The reasons why a generation breaks. */
  public enum Reason {
    /**
     * Another party has waited for its whole time to wait. That party gets a {@code
     * io.mortise.LockTimeoutException}.
     */
    TIMED_OUT,
    /** A party was interrupted, cancelled its future, or closed its client. */
    CANCELLED,
    /** A party's session ended: it died, was cut off or paused, or gave its passage up. */
    PARTY_LOST,
    /** The store has no record of the generation any more, so its end is unknown. */
    FORGOTTEN
  }
}
