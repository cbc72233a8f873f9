package io.mortise.redis.wire;

import java.io.IOException;

/** Who answers is there, and is not the master that is looked for, or does not surely know it. */
final class NotTheMasterException extends IOException {
  private static final long serialVersionUID = 1L;

  NotTheMasterException(String message) {
    super(message);
  }
}
