package io.mortise;

/** The store cannot do this by its nature. Nothing was sent or changed. */
public final class UnsupportedByStoreException extends LockException {
  private static final long serialVersionUID = 1L;

  /** Creates it with a message that names the lock, the event and the remedy. */
  public UnsupportedByStoreException(String message) {
    super(message);
  }

  /** Creates it with a cause. */
  public UnsupportedByStoreException(String message, Throwable cause) {
    super(message, cause);
  }
}
