package io.mortise.architecture;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** Measures the sources of modules, and compares them with the limits of {@code modules.txt}. */
final class ModuleLimits {
  /** A longer file has more than one responsibility. */
  static final int MOST_LINES = 500;

  /** Where a folder stands for several modules. */
  private static final String SEVERAL = ".*[*{].*";

  private ModuleLimits() {}

  /**
   * The sources of a module.
   *
   * @param folder from the root
   * @param main code lines
   * @param tests code lines
   * @param words of its comments
   * @param phrases the headless ones among them, each with its file and line
   * @param longFiles a sentence for each file of the main code with too many lines
   */
  record Measured(
      Path folder,
      long main,
      long tests,
      long words,
      List<String> phrases,
      List<String> longFiles) {}

  /**
   * A line of {@code modules.txt}.
   *
   * @param headless phrases per 1,000 words
   * @param folders a pattern that one module fits, or several
   */
  record Limit(long main, long tests, long headless, String folders) {
    static List<Limit> parse(List<String> lines) {
      return lines.stream()
          .filter(line -> !line.startsWith("#") && !line.isBlank())
          .map(line -> line.strip().split(" +"))
          .map(
              parts ->
                  new Limit(
                      Long.parseLong(parts[0]),
                      Long.parseLong(parts[1]),
                      Long.parseLong(parts[2]),
                      parts[3]))
          .toList();
    }

    boolean fits(Path folder) {
      return folder.getFileSystem().getPathMatcher("glob:" + folders).matches(folder);
    }

    String line() {
      return String.format(Locale.ROOT, "%6d %6d %9d  %s", main, tests, headless, folders);
    }
  }

  /** Measures all modules that have sources. */
  static List<Measured> measure(Path root) throws IOException {
    List<Measured> measured = new ArrayList<>();
    for (Path module : Modules.all(root)) {
      if (Files.isDirectory(module.resolve("src"))) {
        measured.add(measure(root, module));
      }
    }
    return measured;
  }

  private static Measured measure(Path root, Path module) throws IOException {
    long main = 0;
    long tests = 0;
    long words = 0;
    List<String> phrases = new ArrayList<>();
    List<String> longFiles = new ArrayList<>();
    for (Path file : sources(module.resolve("src"))) {
      SourceText source = SourceText.of(Files.readString(file), ending(file));
      if (isCode(file) && file.startsWith(module.resolve("src/main"))) {
        main += source.codeLines();
        if (source.codeLines() > MOST_LINES) {
          longFiles.add(
              "%s has %d code lines; the limit is %d. Give one of its responsibilities a type of its own."
                  .formatted(root.relativize(file), source.codeLines(), MOST_LINES));
        }
      } else if (isCode(file)) {
        tests += source.codeLines();
      }
      for (SourceText.Comment comment : source.comments()) {
        words += comment.words();
        for (String phrase : HeadlessPhrases.in(comment.prose())) {
          phrases.add(root.relativize(file) + ":" + comment.line() + ": " + phrase);
        }
      }
    }
    return new Measured(root.relativize(module), main, tests, words, phrases, longFiles);
  }

  private static List<Path> sources(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files
          .filter(Files::isRegularFile)
          .filter(file -> SourceText.canSplit(ending(file)))
          .sorted()
          .toList();
    }
  }

  private static boolean isCode(Path file) {
    return List.of("java", "kt").contains(ending(file));
  }

  private static String ending(Path file) {
    String name = file.getFileName().toString();
    return name.substring(name.lastIndexOf('.') + 1);
  }

  /** Returns a sentence for each limit that is exceeded, and for each module without one. */
  static List<String> faults(List<Measured> modules, List<Limit> limits) {
    List<String> faults = new ArrayList<>();
    for (Limit limit : limits) {
      Measured sum = sum(modules, limit);
      if (sum.main > limit.main) {
        faults.add(tooLong(limit.folders, sum.main, "main", limit.main));
      }
      if (sum.tests > limit.tests) {
        faults.add(tooLong(limit.folders, sum.tests, "test", limit.tests));
      }
      if (sum.phrases.size() > Math.max(1, limit.headless * sum.words / 1000)) {
        faults.add(
            "%s has %d headless phrases in %d words of comments; the limit is %d in 1,000. Begin with a noun: 'a waiter', not 'who waits'.%n%s"
                .formatted(
                    limit.folders,
                    sum.phrases.size(),
                    sum.words,
                    limit.headless,
                    String.join(System.lineSeparator(), sum.phrases)));
      }
    }
    for (Measured module : modules) {
      if (limits.stream().noneMatch(limit -> limit.folders.equals(name(module)))) {
        faults.add("%s has no limits.".formatted(name(module)));
      }
      faults.addAll(module.longFiles);
    }
    return faults;
  }

  private static String tooLong(String folders, long lines, String kind, long limit) {
    return "%s has %d code lines in src/%s; the limit is %d. Shorten it, or raise the limit and say in the commit what that is worth."
        .formatted(folders, lines, kind, limit);
  }

  /**
   * Returns the lines of {@code modules.txt} with the present numbers, code rounded up: sums to
   * thousands, so that a small change meets one limit, its module's.
   */
  static List<String> update(List<String> lines, List<Measured> modules) {
    List<String> updated = new ArrayList<>();
    lines.stream().filter(line -> line.startsWith("#")).forEach(updated::add);
    Stream<Limit> sums =
        Limit.parse(lines).stream().filter(limit -> limit.folders.matches(SEVERAL));
    Stream<Limit> single = modules.stream().map(module -> new Limit(0, 0, 0, name(module)));
    Stream.concat(sums, single).map(limit -> present(limit, modules).line()).forEach(updated::add);
    return updated;
  }

  private static Limit present(Limit limit, List<Measured> modules) {
    Measured sum = sum(modules, limit);
    long headless =
        sum.phrases.size() <= 1 ? 1 : (1000L * sum.phrases.size() + sum.words - 1) / sum.words;
    int unit = limit.folders.matches(SEVERAL) ? 1_000 : 100;
    return new Limit(rounded(sum.main, unit), rounded(sum.tests, unit), headless, limit.folders);
  }

  private static long rounded(long lines, int unit) {
    return (lines + unit - 1) / unit * unit;
  }

  private static Measured sum(List<Measured> modules, Limit limit) {
    List<Measured> meant = modules.stream().filter(module -> limit.fits(module.folder)).toList();
    return new Measured(
        Path.of(""),
        meant.stream().mapToLong(Measured::main).sum(),
        meant.stream().mapToLong(Measured::tests).sum(),
        meant.stream().mapToLong(Measured::words).sum(),
        meant.stream().flatMap(module -> module.phrases.stream()).toList(),
        List.of());
  }

  private static String name(Measured module) {
    return module.folder.toString().replace('\\', '/');
  }
}
