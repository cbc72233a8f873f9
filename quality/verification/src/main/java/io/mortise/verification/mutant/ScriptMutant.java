package io.mortise.verification.mutant;

/**
 * A script with one change.
 *
 * @param resource the script's path in its jar
 * @param number of this change among all of that script
 * @param line where it is, from one
 * @param operator what kind of change it is
 * @param before the line as it was, without the space around it
 * @param after the line as it is; empty if it was deleted
 * @param text the whole script, changed
 */
public record ScriptMutant(
    String resource,
    int number,
    int line,
    String operator,
    String before,
    String after,
    String text) {

  /** What tells it apart from the others, also when other lines of the script change. */
  public String key() {
    return String.join("\t", resource, Integer.toString(line), operator, before, after);
  }

  @Override
  public String toString() {
    return "%s:%s %s: %s -> %s"
        .formatted(resource, line, operator, before, after.isEmpty() ? "(deleted)" : after);
  }
}
