package io.mortise.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** A directory of a test's own. */
public final class TempDirectory {
  private TempDirectory() {}

  public static Path create() {
    try {
      return Files.createTempDirectory("mortise");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public static void delete(Path directory) {
    if (directory == null) {
      return;
    }
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
