package io.mortise.http;

import io.mortise.LockException;

/** A header that should have a fencing token has none that can be read. */
public final class InvalidFencingHeaderException extends LockException {
  private static final long serialVersionUID = 1L;

  /** With a message that tells what is wrong, and how it should look. */
  InvalidFencingHeaderException(String message) {
    super(message);
  }
}
