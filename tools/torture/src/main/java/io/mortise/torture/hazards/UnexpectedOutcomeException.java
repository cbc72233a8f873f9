package io.mortise.torture.hazards;

/** A story had another outcome: a promise is broken, or the naive lock held by luck. */
public sealed class UnexpectedOutcomeException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * Names the expected outcome.
   *
   * @param expected as a clause
   */
  public UnexpectedOutcomeException(String expected) {
    super("This did not happen as told: " + expected + ".");
  }

  /** The naive lock did not break this time, by luck. Mortise's half was run, and held. */
  public static final class NaiveLockSurvivedException extends UnexpectedOutcomeException {
    private static final long serialVersionUID = 1L;

    /**
     * Names the number of rounds.
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
