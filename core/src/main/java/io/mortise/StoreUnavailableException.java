package io.mortise;

/**
 * The store did not answer, or reported that it cannot serve now. Whether the request was executed
 * is unknown unless the message says otherwise; the engine ends an attempt in doubt by itself, so
 * there is nothing to clean up.
 */
public final class StoreUnavailableException extends LockException {
  private static final long serialVersionUID = 1L;

  /** Creates it with a message that names the lock, the event and the remedy. */
  public StoreUnavailableException(String message) {
    super(message);
  }

  /** Creates it with a cause. */
  public StoreUnavailableException(String message, Throwable cause) {
    super(message, cause);
  }
}
