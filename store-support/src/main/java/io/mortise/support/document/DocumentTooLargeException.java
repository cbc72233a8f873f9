package io.mortise.support.document;

import io.mortise.annotation.Beta;

/**
 * The cause of a {@link io.mortise.StoreUnavailableException} of a write whose document is longer
 * than the server takes; nothing was written. A {@link DocumentStore} then takes the step again
 * with fewer grants, since a holder takes more room than a waiter.
 */
@Beta
public final class DocumentTooLargeException extends Exception {
  private static final long serialVersionUID = 1L;

  /** With the length and the limit, or what the server said. */
  public DocumentTooLargeException(String message) {
    super(message);
  }

  /** With what the server answered. */
  public DocumentTooLargeException(Throwable cause) {
    super(cause.getMessage(), cause);
  }
}
