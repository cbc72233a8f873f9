package io.mortise.torture.hazards;

/** A server that a story starts is not installed. */
public final class MissingProgramException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * Names it.
   *
   * @param program what to look for on the PATH
   */
  public MissingProgramException(String program) {
    super("This story starts " + program + ", which is not on the PATH. Install it.");
  }
}
