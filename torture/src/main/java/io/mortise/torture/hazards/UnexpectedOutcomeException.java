package io.mortise.torture.hazards;

/** A story did not happen as it is told: a promise is broken, or the naive lock held by luck. */
public sealed class UnexpectedOutcomeException extends RuntimeException
    permits NaiveLockSurvivedException {
  private static final long serialVersionUID = 1L;

  /**
   * Says what should have happened.
   *
   * @param expected in a clause
   */
  public UnexpectedOutcomeException(String expected) {
    super("This did not happen as told: " + expected + ".");
  }
}
