package io.mortise.verification.mutant;

/**
 * A script with one change.
 *
 * @param resource the script's path in its jar
 * @param number of this change among those of the script
 * @param line of the change, from one
 * @param operator the kind of the change
 * @param before the original line, stripped
 * @param after the changed line; empty if it was deleted
 * @param text the whole changed script
 */
public record ScriptMutant(
    String resource,
    int number,
    int line,
    String operator,
    String before,
    String after,
    String text) {

  /** Its identity, stable when other lines of the script change. */
  public String key() {
    return String.join("\t", resource, Integer.toString(line), operator, before, after);
  }

  @Override
  public String toString() {
    return "%s:%s %s: %s -> %s"
        .formatted(resource, line, operator, before, after.isEmpty() ? "(deleted)" : after);
  }
}
