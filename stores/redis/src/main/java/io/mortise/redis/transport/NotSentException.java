package io.mortise.redis.transport;

/** The command was not sent, and so was surely not executed. */
public final class NotSentException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Says why, in a sentence. */
  public NotSentException(String message) {
    super(message, null, false, false);
  }
}
