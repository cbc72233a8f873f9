package io.mortise.torture.hazards;

/** A story did not happen as it is told: a promise is broken, or the naive lock held by luck. */
public sealed class UnexpectedOutcomeException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * Says what should have happened.
   *
   * @param expected in a clause
   */
  public UnexpectedOutcomeException(String expected) {
    super("This did not happen as told: " + expected + ".");
  }

  /** The naive lock did not break this time, by luck. Mortise's half was played, and held. */
  public static final class NaiveLockSurvivedException extends UnexpectedOutcomeException {
    private static final long serialVersionUID = 1L;

    /**
     * Says how often it was tried.
     *
     * @param rounds in which the naive lock was lucky
     */
    public NaiveLockSurvivedException(int rounds) {
      super(
          "the naive lock did not break this time, in "
              + rounds
              + " rounds; Mortise's half held. Play the story again");
    }
  }
}
