package io.mortise;

/**
 * Trouble with a lock or its store. That somebody else holds a lock is no trouble, but an outcome.
 */
public class LockException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** With a message that tells what happened, to which lock, and what to do. */
  public LockException(String message) {
    super(message);
  }

  /** With what caused it. */
  public LockException(String message, Throwable cause) {
    super(message, cause);
  }
}
