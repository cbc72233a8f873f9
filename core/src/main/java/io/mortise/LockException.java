package io.mortise;

/** Trouble with a lock or its store. A lock that another holds is no trouble, but an outcome. */
public class LockException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Creates it with a message that names the lock, the event and the remedy. */
  public LockException(String message) {
    super(message);
  }

  /** Creates it with a cause. */
  public LockException(String message, Throwable cause) {
    super(message, cause);
  }
}
