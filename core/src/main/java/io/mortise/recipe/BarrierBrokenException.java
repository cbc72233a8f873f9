package io.mortise.recipe;

import io.mortise.annotation.Beta;

/**
 * The generation of a barrier that this party waited in has ended without all of its parties. Each
 * party that waited in it gets this, or the reason itself: a timeout, a cancellation. Enter again:
 * the barrier has a new generation.
 *
 * <p>It is no {@code io.mortise.LockException}: neither the store nor a lock has failed.
 */
@Beta
public final class BarrierBrokenException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final Reason reason;

  /** With a message that names the barrier, its generation and the reason. */
  public BarrierBrokenException(String message, Reason reason) {
    super(message);
    this.reason = reason;
  }

  /** What broke it. */
  public Reason reason() {
    return reason;
  }

  /** What breaks a generation. */
  public enum Reason {
    /**
     * Another party waited for as long as it was willing to. That one gets a {@code
     * io.mortise.LockTimeoutException}.
     */
    TIMED_OUT,
    /** A party was interrupted, cancelled its future, or closed its client. */
    CANCELLED,
    /** The session of a party ended: it died, was cut off or paused, or gave its passage up. */
    PARTY_LOST,
    /** The store has no record of the generation any more, so how it ended is unknown. */
    FORGOTTEN
  }
}
