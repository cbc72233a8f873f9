package io.mortise;

/**
 * The store can be reached but must not be used as it is: wrong credentials, read-only, too old,
 * evicting keys, a missing table. Trying again does not help.
 */
public final class StoreUnfitException extends LockException {
  private static final long serialVersionUID = 1L;

  /** With a message that tells what happened, to which lock, and what to do. */
  public StoreUnfitException(String message) {
    super(message);
  }

  /** With what caused it. */
  public StoreUnfitException(String message, Throwable cause) {
    super(message, cause);
  }
}
