package io.mortise;

/** The lock could not be had in time. Nothing of the attempt stays behind. */
public final class LockTimeoutException extends LockException {
  private static final long serialVersionUID = 1L;

  /** With a message that tells what happened, to which lock, and what to do. */
  public LockTimeoutException(String message) {
    super(message);
  }

  /** With what caused it. */
  public LockTimeoutException(String message, Throwable cause) {
    super(message, cause);
  }
}
