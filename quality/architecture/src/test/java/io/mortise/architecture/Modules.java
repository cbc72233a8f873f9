package io.mortise.architecture;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** The modules that the root POM names, without the examples. */
final class Modules {
  private static final Path EXAMPLES = Path.of("examples");
  private static final Path SOURCES = Path.of("src");

  private Modules() {}

  /** Returns the folders of all modules, in the order of their paths. */
  static List<Path> folders(Path root) throws IOException {
    return Pom.withModules(root).stream()
        .map(pom -> pom.file().getParent())
        .filter(folder -> !root.relativize(folder).startsWith(EXAMPLES))
        .sorted()
        .toList();
  }

  /** Returns the name of the module that a source belongs to, which is that of its folder. */
  static String name(Path source) {
    Path folder = source;
    while (!folder.endsWith(SOURCES)) {
      folder = folder.getParent();
    }
    return folder.getParent().getFileName().toString();
  }
}
