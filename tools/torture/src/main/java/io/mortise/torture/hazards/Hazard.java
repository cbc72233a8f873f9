package io.mortise.torture.hazards;

import io.mortise.console.view.HazardStory;
import io.mortise.torture.hazards.UnexpectedOutcomeException.NaiveLockSurvivedException;

/**
 * A hazard with a runnable story.
 *
 * @param story its text
 * @param takesStore whether its second half can run on a user's store
 * @param scenario runs it
 */
public record Hazard(HazardStory story, boolean takesStore, HazardScenario scenario) {

  /** Its name for the command line. */
  public String name() {
    return story.name();
  }

  /** Runs a story. */
  @FunctionalInterface
  public interface HazardScenario {
    /**
     * Runs it, with the naive lock and then with Mortise. Blocks for less than a minute, or for
     * less than two if it repeats its naive half until the lock breaks.
     *
     * @throws NaiveLockSurvivedException if the naive lock was lucky in all rounds; Mortise's half
     *     was run, and held
     * @throws UnexpectedOutcomeException if the outcome differs from the story
     * @throws MissingProgramException if a server is not installed
     */
    void play(HazardContext hazardContext) throws Exception;
  }
}
