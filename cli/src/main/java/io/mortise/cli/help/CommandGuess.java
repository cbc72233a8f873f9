package io.mortise.cli.help;

import java.util.Collection;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;

/** Which command was meant by a word that is none. */
public final class CommandGuess {
  /** What people of other tools write. */
  private static final Map<String, String> OTHERS =
      Map.ofEntries(
          Map.entry("list", "ls"),
          Map.entry("ps", "ls"),
          Map.entry("top", "ls --watch"),
          Map.entry("watch", "ls --watch"),
          Map.entry("lock", "run"),
          Map.entry("exec", "run"),
          Map.entry("get", "show"),
          Map.entry("info", "show"),
          Map.entry("status", "show"),
          Map.entry("inspect", "show"),
          Map.entry("unlock", "evict"),
          Map.entry("release", "evict"),
          Map.entry("rm", "evict"),
          Map.entry("kill", "evict"),
          Map.entry("deadlocks", "waits"),
          Map.entry("check", "doctor"),
          Map.entry("generate-completion", "completion"));

  private CommandGuess() {}

  /** Empty if nothing is near. */
  public static Optional<String> of(String word, Collection<String> commands) {
    String other = OTHERS.get(word);
    return other != null
        ? Optional.of(other)
        : commands.stream()
            .filter(command -> command.startsWith(word) || edits(word, command) <= most(command))
            .min(Comparator.comparingInt(command -> edits(word, command)));
  }

  private static int most(String command) {
    return command.length() < 4 ? 1 : 2;
  }

  /** Levenshtein's distance: letters inserted, left out or replaced. */
  private static int edits(String one, String other) {
    int[] row = new int[other.length() + 1];
    for (int k = 0; k < row.length; k++) {
      row[k] = k;
    }
    for (int i = 1; i <= one.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int k = 1; k < row.length; k++) {
        int replaced = diagonal + (one.charAt(i - 1) == other.charAt(k - 1) ? 0 : 1);
        diagonal = row[k];
        row[k] = Math.min(replaced, Math.min(row[k], row[k - 1]) + 1);
      }
    }
    return row[other.length()];
  }
}
