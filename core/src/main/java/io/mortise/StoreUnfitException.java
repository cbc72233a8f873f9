package io.mortise;

/**
 * The store can be reached but must not be used as it is: wrong credentials, too old, evicting
 * keys, a missing table; when it is opened, also a server that is read-only or a standby. Trying
 * again does not help.
 *
 * <p>Once a client is open, this says that somebody must change something. A server that cannot
 * serve now, such as one that is read-only or a standby, is an outage then: waits go on, and other
 * calls end with {@link StoreUnavailableException}.
 */
public final class StoreUnfitException extends LockException {
  private static final long serialVersionUID = 1L;

  private final boolean notWritable;

  /** With a message that tells what happened, to which lock, and what to do. */
  public StoreUnfitException(String message) {
    super(message);
    this.notWritable = false;
  }

  /** With what caused it. */
  public StoreUnfitException(String message, Throwable cause) {
    super(message, cause);
    this.notWritable = false;
  }

  private StoreUnfitException(boolean notWritable, String message) {
    super(message);
    this.notWritable = notWritable;
  }

  private StoreUnfitException(boolean notWritable, String message, Throwable cause) {
    super(message, cause);
    this.notWritable = notWritable;
  }

  /**
   * Of a server that cannot serve now: read-only, a standby, a replica; one where what locks need
   * is switched off; something else at its address. For stores.
   */
  public static StoreUnfitException notWritable(String message) {
    return new StoreUnfitException(true, message);
  }

  /** As {@link #notWritable(String)}, with what caused it. */
  public static StoreUnfitException notWritable(String message, Throwable cause) {
    return new StoreUnfitException(true, message, cause);
  }

  /** Whether it may end without a change of settings, and is an outage of an open store. */
  public boolean isNotWritable() {
    return notWritable;
  }
}
