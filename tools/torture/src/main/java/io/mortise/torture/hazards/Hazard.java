package io.mortise.torture.hazards;

import io.mortise.console.view.HazardStory;
import io.mortise.torture.hazards.UnexpectedOutcomeException.NaiveLockSurvivedException;

/**
 * A story that can be run.
 *
 * @param story what it is about
 * @param takesStore whether its second half can run on a store of the user's
 * @param scenario what happens
 */
public record Hazard(HazardStory story, boolean takesStore, HazardScenario scenario) {

  /** For the command line. */
  public String name() {
    return story.name();
  }

  /** What happens. */
  @FunctionalInterface
  public interface HazardScenario {
    /**
     * Plays it, with the naive lock and then with Mortise. Blocks for less than a minute; a story
     * that repeats its naive half until the lock breaks, for less than two.
     *
     * @throws NaiveLockSurvivedException if the naive lock was lucky in all rounds; Mortise's half
     *     was played then, and held
     * @throws UnexpectedOutcomeException if it went otherwise
     * @throws MissingProgramException if a server is not installed
     */
    void play(HazardContext hazardContext) throws Exception;
  }
}
