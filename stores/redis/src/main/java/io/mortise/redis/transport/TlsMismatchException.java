package io.mortise.redis.transport;

import java.io.IOException;

/** One side speaks TLS, the other does not: a retry will not change that. */
public final class TlsMismatchException extends IOException {
  private static final long serialVersionUID = 1L;

  TlsMismatchException(String message, Throwable cause) {
    super(message, cause);
  }
}
