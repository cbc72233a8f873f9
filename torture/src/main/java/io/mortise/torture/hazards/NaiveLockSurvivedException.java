package io.mortise.torture.hazards;

/** The naive lock did not break this time, by luck. Mortise's half was played, and held. */
public final class NaiveLockSurvivedException extends UnexpectedOutcomeException {
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
