package io.mortise.cli;

/** Ends the tool with a message for people and an exit status. */
final class CliException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int status;

  CliException(int status, String message) {
    super(message);
    this.status = status;
  }

  CliException(int status, String message, Throwable cause) {
    super(message, cause);
    this.status = status;
  }

  int status() {
    return status;
  }
}
