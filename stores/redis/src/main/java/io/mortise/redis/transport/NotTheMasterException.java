package io.mortise.redis.transport;

import java.io.IOException;

/** The server that answered is not the master, or the Sentinels do not agree on the master. */
public final class NotTheMasterException extends IOException {
  private static final long serialVersionUID = 1L;

  public NotTheMasterException(String message) {
    super(message);
  }
}
