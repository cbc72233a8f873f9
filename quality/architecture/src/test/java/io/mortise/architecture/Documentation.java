package io.mortise.architecture;

import static java.util.stream.Collectors.toCollection;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The pages of the documentation, for tests that keep them true. */
final class Documentation {
  static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();

  private static final Pattern FENCE = Pattern.compile(" {0,3}(```+|~~~+)\\s*(\\S*).*");

  private Documentation() {}

  /**
   * A page, by its lines.
   *
   * @param path below {@link #ROOT}
   */
  record Page(String path, List<String> lines) {
    /** Its fenced blocks, in order. The last one may lack its end. */
    List<Block> blocks() {
      List<Block> found = new ArrayList<>();
      String end = null;
      String language = "";
      int begin = 0;
      for (int i = 0; i < lines.size(); i++) {
        var fence = FENCE.matcher(lines.get(i));
        if (end == null && fence.matches()) {
          end = fence.group(1);
          language = fence.group(2);
          begin = i + 1;
        } else if (end != null && lines.get(i).strip().equals(end)) {
          found.add(new Block(this, language, begin, i, true));
          end = null;
        }
      }
      if (end != null) {
        found.add(new Block(this, language, begin, lines.size(), false));
      }
      return found;
    }
  }

  /**
   * A fenced block of a page.
   *
   * @param begin index of its first line
   * @param end index of the line behind its last
   * @param closed whether its fence has an end
   */
  record Block(Page page, String language, int begin, int end, boolean closed) {
    List<String> lines() {
      return page.lines().subList(begin, end);
    }

    /** Where it begins, for people. */
    String place() {
      return page.path() + ":" + (begin + 1);
    }

    /** The line above its fence; empty if there is none. */
    String above() {
      return begin < 2 ? "" : page.lines().get(begin - 2).strip();
    }
  }

  /** README.md and the pages below docs whose path from there fits. */
  static List<Page> pages(Predicate<String> wanted) throws IOException {
    List<Path> files;
    try (Stream<Path> found = Files.walk(ROOT.resolve("docs"))) {
      files =
          found
              .filter(file -> file.toString().endsWith(".md"))
              .filter(file -> wanted.test(name(ROOT.resolve("docs"), file)))
              .sorted()
              .collect(toCollection(ArrayList::new));
    }
    files.add(0, ROOT.resolve("README.md"));
    List<Page> pages = new ArrayList<>();
    for (Path file : files) {
      pages.add(new Page(name(ROOT, file), Files.readAllLines(file)));
    }
    return pages;
  }

  private static String name(Path from, Path file) {
    return from.relativize(file).toString().replace('\\', '/');
  }
}
