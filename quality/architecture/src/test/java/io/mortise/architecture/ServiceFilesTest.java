package io.mortise.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Providers are named twice: for the module path in {@code module-info.java}, and for the class
 * path in {@code META-INF/services}, the only source of a native image (oracle/graal#7634).
 */
class ServiceFilesTest {
  private static final Pattern PROVIDES =
      Pattern.compile("\\bprovides\\s+([\\w.]+)\\s+with\\s+([\\w.,\\s]+);");

  /** Providers by service. */
  private static Map<String, Set<String>> ofModule(Path info) throws IOException {
    Map<String, Set<String>> found = new TreeMap<>();
    PROVIDES
        .matcher(Files.readString(info))
        .results()
        .forEach(
            each ->
                found.put(each.group(1), new TreeSet<>(Set.of(each.group(2).split("[,\\s]+")))));
    return found;
  }

  private static Map<String, Set<String>> ofFiles(Path folder) throws IOException {
    Map<String, Set<String>> found = new TreeMap<>();
    if (Files.isDirectory(folder)) {
      try (Stream<Path> files = Files.list(folder)) {
        for (Path file : files.toList()) {
          found.put(file.getFileName().toString(), new TreeSet<>(Files.readAllLines(file)));
        }
      }
    }
    return found;
  }

  @Test
  void givenModule_thenItsProvidersStandInServiceFilesToo() throws IOException {
    Set<String> providers = new TreeSet<>();
    for (Path module : Modules.folders(Documentation.ROOT)) {
      Path main = module.resolve("src/main");
      Path info = main.resolve("java/module-info.java");
      if (Files.exists(info)) {
        Map<String, Set<String>> provided = ofModule(info);
        assertThat(ofFiles(main.resolve("resources/META-INF/services")))
            .as(module.getFileName().toString())
            .isEqualTo(provided);
        provided.values().forEach(providers::addAll);
      }
    }
    assertThat(providers).hasSizeGreaterThan(8);
  }
}
