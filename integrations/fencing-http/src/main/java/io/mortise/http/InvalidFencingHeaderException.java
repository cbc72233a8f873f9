package io.mortise.http;

import io.mortise.LockException;

/** A header that should have a fencing token has no readable one. */
public final class InvalidFencingHeaderException extends LockException {
  private static final long serialVersionUID = 1L;

  /** With a message about the error and the expected form. */
  InvalidFencingHeaderException(String message) {
    super(message);
  }
}
