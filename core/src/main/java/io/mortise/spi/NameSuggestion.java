package io.mortise.spi;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** Suggests the intended name for a misspelt one. Thread-safe; does not block. */
public final class NameSuggestion {
  private static final int MOST_EDITS = 2;

  /** Names that other libraries and drivers use, and their equivalents here. */
  private static final List<List<String>> OTHERS =
      List.of(
          List.of("postgresql", "jdbc:postgresql"),
          List.of("postgres", "jdbc:postgresql"),
          List.of("jdbc:postgres", "jdbc:postgresql"),
          List.of("jdbc:pg", "jdbc:postgresql"),
          List.of("mysql", "jdbc:mysql"),
          List.of("mariadb", "jdbc:mariadb"),
          List.of("sqlite", "jdbc:sqlite"),
          List.of("h2", "jdbc:h2"),
          List.of("zookeeper", "zk"),
          List.of("curator", "zk+curator"),
          List.of("valkey", "redis"),
          List.of("valkeys", "rediss"),
          List.of("redis+sentinel", "redis-sentinel"),
          List.of("redis+cluster", "redis-cluster"),
          List.of("memory", "mem"));

  /** Names that other stores and drivers use for a namespace. */
  private static final Set<String> NAMESPACES =
      Set.of("prefix", "key-prefix", "keyprefix", "chroot", "ns");

  private NameSuggestion() {}

  /** The intended scheme; empty if nothing is near. */
  public static Optional<String> scheme(String given, Collection<String> known) {
    String lower = given.toLowerCase(Locale.ROOT);
    return OTHERS.stream()
        .filter(other -> other.get(0).equals(lower))
        .map(other -> other.get(1))
        .findFirst()
        .or(() -> nearest(lower, known));
  }

  /** The intended parameter; empty if nothing is near. */
  static Optional<String> parameter(String given, Collection<String> known) {
    return NAMESPACES.contains(given.toLowerCase(Locale.ROOT)) && known.contains("namespace")
        ? Optional.of("namespace")
        : nearest(given, known);
  }

  /** The known name with the smallest distance, two letters at most; empty if none is so near. */
  public static Optional<String> nearest(String given, Collection<String> known) {
    return known.stream()
        .filter(name -> edits(given, name) <= Math.min(MOST_EDITS, name.length() / 2))
        .min(
            Comparator.comparingInt((String name) -> edits(given, name))
                .thenComparing(Comparator.naturalOrder()));
  }

  /** Levenshtein's distance: letters inserted, left out or replaced. */
  private static int edits(String one, String other) {
    int[] row = new int[other.length() + 1];
    for (int i = 0; i <= other.length(); i++) {
      row[i] = i;
    }
    for (int i = 1; i <= one.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int k = 1; k <= other.length(); k++) {
        int replaced = diagonal + (one.charAt(i - 1) == other.charAt(k - 1) ? 0 : 1);
        diagonal = row[k];
        row[k] = Math.min(replaced, Math.min(row[k], row[k - 1]) + 1);
      }
    }
    return row[other.length()];
  }
}
