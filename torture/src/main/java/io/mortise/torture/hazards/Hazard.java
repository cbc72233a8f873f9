package io.mortise.torture.hazards;

/**
 * A story that can be run.
 *
 * @param name for the command line
 * @param title what goes wrong, in a line
 * @param source who told it first, or best
 * @param needs the programs that it starts, for people
 * @param takesStore whether its second half can run on a store of the user's
 * @param story what happens
 */
public record Hazard(
    String name,
    String title,
    String source,
    String needs,
    boolean takesStore,
    HazardScenario story) {

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
