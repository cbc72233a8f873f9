package io.mortise.cli;

import io.mortise.console.view.OutputSanitizer;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/** Finds a program as a shell does, to fail before waiting for a lock. */
final class ExecutableFinder {
  private ExecutableFinder() {}

  /**
   * Checks that the program can be executed.
   *
   * @param search the PATH
   * @return the word to execute: unchanged unless it looks like an option
   * @throws CliException with status 127 if there is no such program, 126 if it is not executable
   */
  static String check(String program, String search) {
    if (program.indexOf('/') >= 0) {
      Path file = path(program);
      if (!Files.exists(file)) {
        throw notFound(program);
      }
      return executable(program, file);
    }
    Path seen = null;
    for (String folder : search.split(":", -1)) {
      Path file = path(folder.isEmpty() ? "./" + program : folder + "/" + program);
      if (Files.isRegularFile(file)) {
        if (Files.isExecutable(file)) {
          return program.startsWith("-") ? file.toString() : program;
        }
        seen = file;
      }
    }
    if (seen != null) {
      throw notExecutable(seen.toString());
    }
    throw notFound(program);
  }

  private static String executable(String program, Path file) {
    if (!Files.isRegularFile(file) || !Files.isExecutable(file)) {
      throw notExecutable(program);
    }
    return program;
  }

  private static Path path(String text) {
    try {
      return Path.of(text);
    } catch (InvalidPathException e) {
      throw notFound(text);
    }
  }

  private static CliException notFound(String program) {
    return new CliException(
        ExitStatus.NOT_FOUND,
        "Command '" + OutputSanitizer.text(program) + "' not found. The lock was not asked for.");
  }

  private static CliException notExecutable(String program) {
    return new CliException(
        ExitStatus.NOT_EXECUTABLE,
        "Command '"
            + OutputSanitizer.text(program)
            + "' is not executable. The lock was not asked for.");
  }
}
