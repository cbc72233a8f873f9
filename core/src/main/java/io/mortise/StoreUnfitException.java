package io.mortise;

/**
 * The store is reachable but must not be used as it is: wrong credentials, too old, evicting keys,
 * a missing table; on opening, also a server that is read-only or a standby. A retry does not help.
 *
 * <p>Once a client is open, this says that somebody must change a setting. A server that cannot
 * serve now, such as a read-only server or a standby, then counts as an outage: waits continue, and
 * other calls end with {@link StoreUnavailableException}.
 */
public final class StoreUnfitException extends LockException {
  private static final long serialVersionUID = 1L;

  private final boolean notWritable;

  /** Creates it with a message that names the lock, the event and the remedy. */
  public StoreUnfitException(String message) {
    super(message);
    this.notWritable = false;
  }

  /** Creates it with a cause. */
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
   * The exception for a server that cannot serve now: read-only, a standby, a replica; one with a
   * feature switched off that locks need; another service at its address. For stores.
   */
  public static StoreUnfitException notWritable(String message) {
    return new StoreUnfitException(true, message);
  }

  /** As {@link #notWritable(String)}, with a cause. */
  public static StoreUnfitException notWritable(String message, Throwable cause) {
    return new StoreUnfitException(true, message, cause);
  }

  /** Whether it may end without a change of settings, and counts as an outage of an open store. */
  public boolean isNotWritable() {
    return notWritable;
  }
}
