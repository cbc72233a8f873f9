package io.mortise;

/**
 * Thrown by {@link JavaLock}'s {@code unlock()} when the lease was lost before: the hold ends all
 * the same.
 */
public final class LeaseLostMonitorException extends IllegalMonitorStateException {
  private static final long serialVersionUID = 1L;

  /** With the loss as its cause. */
  public LeaseLostMonitorException(LeaseLostException loss) {
    super(loss.getMessage());
    initCause(loss);
  }
}
