package io.mortise;

/**
 * The store did not answer, or said that it cannot now. Whether the request was executed is unknown
 * unless the message says otherwise; the engine ends an attempt in doubt by itself, so there is
 * nothing to clean up.
 */
public final class StoreUnavailableException extends LockException {
  private static final long serialVersionUID = 1L;

  /** With a message that tells what happened, to which lock, and what to do. */
  public StoreUnavailableException(String message) {
    super(message);
  }

  /** With what caused it. */
  public StoreUnavailableException(String message, Throwable cause) {
    super(message, cause);
  }
}
