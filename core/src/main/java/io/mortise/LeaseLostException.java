package io.mortise;

import io.mortise.event.LeaseEnd;
import java.util.Objects;

/**
 * The lease ended before its holder released it: it was not renewed in time, its at-most time
 * passed, an operator ended it, the store forgot it, or its client was closed. Work done under it
 * may overlap with the next holder's. Final: a lease that may become valid again is reported by
 * {@link LeaseInDoubtException}.
 */
public final class LeaseLostException extends LockException {
  private static final long serialVersionUID = 1L;

  private final LeaseEnd end;

  /**
   * Creates it with a message that names the lock, the event and the remedy.
   *
   * @throws IllegalArgumentException if the end is no loss
   */
  public LeaseLostException(String message, LeaseEnd end) {
    super(message);
    this.end = checked(end);
  }

  /**
   * Creates it with a cause.
   *
   * @throws IllegalArgumentException if the end is no loss
   */
  public LeaseLostException(String message, LeaseEnd end, Throwable cause) {
    super(message, cause);
    this.end = checked(end);
  }

  private static LeaseEnd checked(LeaseEnd end) {
    if (!Objects.requireNonNull(end, "end").isLoss()) {
      throw new IllegalArgumentException("A lease that ends by " + end + " is not lost.");
    }
    return end;
  }

  /** The end of the lease, never {@link LeaseEnd#RELEASED}. */
  public LeaseEnd end() {
    return end;
  }
}
