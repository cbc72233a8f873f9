package io.mortise.support.document;

import io.mortise.annotation.Beta;

/**
 * The cause of a {@link io.mortise.StoreUnavailableException} if a document is longer than the
 * server accepts; nothing was written. A {@link DocumentStore} then repeats the step with fewer
 * grants, since a holder takes more room than a waiter.
 */
@Beta
public final class DocumentTooLargeException extends Exception {
  private static final long serialVersionUID = 1L;

  /** Creates it with the length and the limit, or with the server's message. */
  public DocumentTooLargeException(String message) {
    super(message);
  }

  /** Creates it with the server's answer. */
  public DocumentTooLargeException(Throwable cause) {
    super(cause.getMessage(), cause);
  }
}
