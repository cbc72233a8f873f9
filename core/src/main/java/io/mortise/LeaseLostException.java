package io.mortise;

/**
 * The lease ended before its holder gave it up: it was not renewed in time, its at-most time
 * passed, an operator ended it, the store forgot it, or its client was closed. Work done under it
 * may overlap with the next holder's.
 */
public final class LeaseLostException extends LockException {
  private static final long serialVersionUID = 1L;

  /** With a message that tells what happened, to which lock, and what to do. */
  public LeaseLostException(String message) {
    super(message);
  }

  /** With what caused it. */
  public LeaseLostException(String message, Throwable cause) {
    super(message, cause);
  }
}
