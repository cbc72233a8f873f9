package io.mortise.cli.help;

import io.mortise.spi.NameSuggestion;
import java.util.Collection;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;

/** Guesses the command that was meant by an unknown word. */
public final class CommandGuess {
  /** Names of commands in other tools. */
  private static final Map<String, String> OTHERS =
      Map.ofEntries(
          Map.entry("list", "ls"),
          Map.entry("ps", "ls"),
          Map.entry("htop", "top"),
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
            .filter(command -> command.startsWith(word))
            .min(Comparator.comparingInt(String::length))
            .or(() -> NameSuggestion.nearest(word, commands));
  }
}
