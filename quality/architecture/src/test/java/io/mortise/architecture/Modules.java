package io.mortise.architecture;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The modules that the root POM names. */
final class Modules {
  private static final Path EXAMPLES = Path.of("examples");
  private static final Path SOURCES = Path.of("src");

  private Modules() {}

  /** Returns the folders of all modules, in the order of their paths. */
  static List<Path> all(Path root) throws IOException {
    return Pom.withModules(root).stream().map(pom -> pom.file().getParent()).sorted().toList();
  }

  /** Returns the folders of all modules but the examples, in the order of their paths. */
  static List<Path> folders(Path root) throws IOException {
    return all(root).stream()
        .filter(folder -> !root.relativize(folder).startsWith(EXAMPLES))
        .toList();
  }

  /** Returns the Java files of the main code, without descriptors of packages and modules. */
  static List<Path> mainSources(Path root) throws IOException {
    List<Path> found = new ArrayList<>();
    for (Path module : folders(root)) {
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

  /** Returns the name of the module that a source belongs to, which is that of its folder. */
  static String name(Path source) {
    Path folder = source;
    while (!folder.endsWith(SOURCES)) {
      folder = folder.getParent();
    }
    return folder.getParent().getFileName().toString();
  }
}
