package io.mortise;

/** The store cannot do what was asked, by its nature. Nothing was sent or changed. */
public final class UnsupportedByStoreException extends LockException {
  private static final long serialVersionUID = 1L;

  /** With a message that tells what happened, to which lock, and what to do. */
  public UnsupportedByStoreException(String message) {
    super(message);
  }

  /** With what caused it. */
  public UnsupportedByStoreException(String message, Throwable cause) {
    super(message, cause);
  }
}
