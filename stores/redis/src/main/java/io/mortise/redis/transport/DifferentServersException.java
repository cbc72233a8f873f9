package io.mortise.redis.transport;

import java.io.IOException;

/** The connections of one store lead to different servers. */
public final class DifferentServersException extends IOException {
  private static final long serialVersionUID = 1L;

  DifferentServersException(String message) {
    super(message);
  }
}
