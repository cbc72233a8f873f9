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
    String name, String title, String source, String needs, boolean takesStore, Story story) {

  /** What happens. */
  @FunctionalInterface
  public interface Story {
    /**
     * Plays it, with the naive lock and then with Mortise. Blocks for less than a minute.
     *
     * @throws NotAsToldException if it went otherwise
     * @throws MissingProgramException if a server is not installed
     */
    void play(Stage stage) throws Exception;
  }
}
