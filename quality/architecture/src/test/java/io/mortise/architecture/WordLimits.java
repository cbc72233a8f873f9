package io.mortise.architecture;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Counts the words of all pages, and compares them with the limits of {@code words.txt}. */
final class WordLimits {
  /** Folders that a build or a tool fills. */
  private static final Set<String> MADE = Set.of("target", "node_modules", ".git");

  /** HTML pages that people read as text. */
  private static final Set<String> PAGES =
      Set.of("META-INF/mortise/console/index.html", "main/javadoc/index.html");

  private WordLimits() {}

  /** The words of each page below a folder, by its path from there. */
  static Map<Path, Integer> words(Path root) throws IOException {
    Map<Path, Integer> words = new TreeMap<>();
    Files.walkFileTree(
        root,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
            return MADE.contains(folder.getFileName().toString())
                ? FileVisitResult.SKIP_SUBTREE
                : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            if (file.toString().endsWith(".md") || PAGES.stream().anyMatch(file::endsWith)) {
              words.put(root.relativize(file), count(Files.readString(file)));
            }
            return FileVisitResult.CONTINUE;
          }
        });
    return words;
  }

  private static int count(String text) {
    return text.isBlank() ? 0 : text.strip().split("\\s+").length;
  }

  /**
   * Returns a sentence for each limit that is exceeded.
   *
   * @param limits the lines of {@code words.txt}
   */
  static List<String> faults(Map<Path, Integer> words, List<String> limits) {
    List<String> faults = new ArrayList<>();
    for (String line : limits) {
      if (!line.startsWith("#")) {
        String[] parts = line.split(" ", 3);
        faults.addAll(faults(words, parts[0], Integer.parseInt(parts[1]), parts[2]));
      }
    }
    return faults;
  }

  private static List<String> faults(
      Map<Path, Integer> words, String kind, int limit, String pattern) {
    Map<Path, Integer> meant = new TreeMap<>(words);
    PathMatcher files = Path.of("").getFileSystem().getPathMatcher("glob:" + pattern);
    meant.keySet().removeIf(file -> !files.matches(file));
    List<String> faults = new ArrayList<>();
    switch (kind) {
      case "all" -> {
        int sum = meant.values().stream().mapToInt(Integer::intValue).sum();
        if (sum > limit) {
          faults.add("All pages have " + sum + " words; the limit is " + limit + ".");
        }
      }
      case "each" ->
          meant.forEach(
              (file, count) -> {
                if (count > limit) {
                  faults.add(file + " has " + count + " words; the limit is " + limit + ".");
                }
              });
      case "files" -> {
        if (meant.size() > limit) {
          faults.add(pattern + " are " + meant.size() + " files; the limit is " + limit + ".");
        }
      }
      default -> throw new IllegalArgumentException(kind);
    }
    return faults;
  }
}
