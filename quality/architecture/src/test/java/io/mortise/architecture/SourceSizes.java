package io.mortise.architecture;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/** How large packages and files of the main code may become, each limit with its remedy. */
final class SourceSizes {
  /** So many types a reader can survey in a list. */
  static final int MOST_TYPES = 25;

  /** What is longer has more than one responsibility. */
  static final int MOST_LINES = 500;

  /** Files that are longer all the same. Each entry needs a reason beside it. */
  static final Set<String> EXCUSED =
      Set.of(
          // The machine that is the specification of all stores; read from top to bottom.
          "LockTable.java");

  private SourceSizes() {}

  /**
   * What is too large in the modules of a build.
   *
   * @return one sentence for each package and each file, with its remedy; empty if all is well
   */
  static List<String> faults(Path root, int mostTypes, int mostLines) throws IOException {
    List<String> faults = new ArrayList<>();
    Map<Path, Integer> types = new TreeMap<>();
    for (Path file : mainSources(root)) {
      types.merge(root.relativize(file.getParent()), 1, Integer::sum);
      int lines = Files.readAllLines(file).size();
      if (lines > mostLines && !EXCUSED.contains(file.getFileName().toString())) {
        faults.add(
            "File %s has %d lines, more than %d. Give one of its responsibilities a type of its own."
                .formatted(root.relativize(file), lines, mostLines));
      }
    }
    types.forEach(
        (folder, count) -> {
          if (count > mostTypes) {
            faults.add(
                "Package %s has %d types, more than %d. Move those that a reader looks for together to a package of their own."
                    .formatted(folder, count, mostTypes));
          }
        });
    return faults;
  }

  /** Without the descriptors of packages and modules. */
  static List<Path> mainSources(Path root) throws IOException {
    List<Path> found = new ArrayList<>();
    for (Path module : Modules.folders(root)) {
      Path sources = module.resolve("src/main/java");
      if (Files.isDirectory(sources)) {
        try (Stream<Path> files = Files.walk(sources)) {
          files
              .filter(file -> file.toString().endsWith(".java"))
              .filter(file -> !file.toString().endsWith("-info.java"))
              .sorted()
              .forEach(found::add);
        }
      }
    }
    return found;
  }
}
