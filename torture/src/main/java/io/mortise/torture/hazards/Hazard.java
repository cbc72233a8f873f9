package io.mortise.torture.hazards;

import io.mortise.console.internal.view.HazardStory;

/**
 * A story that can be run.
 *
 * @param text what it is about
 * @param takesStore whether its second half can run on a store of the user's
 * @param story what happens
 */
public record Hazard(HazardStory text, boolean takesStore, HazardScenario story) {

  /** For the command line. */
  public String name() {
    return text.name();
  }

  /** What happens. */
  @FunctionalInterface
  public interface HazardScenario {
    /**
     * Plays it, with the naive lock and then with Mortise. Blocks for less than a minute.
     *
     * @throws UnexpectedOutcomeException if it went otherwise
     * @throws MissingProgramException if a server is not installed
     */
    void play(HazardContext hazardContext) throws Exception;
  }
}
