package io.mortise.torture.hazards;

/** A server required by a story is not installed. */
public final class MissingProgramException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * Names the program.
   *
   * @param program the program to search on the PATH
   */
  public MissingProgramException(String program) {
    super("This story starts " + program + ", which is not on the PATH. Install it.");
  }
}
