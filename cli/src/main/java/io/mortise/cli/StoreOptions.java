package io.mortise.cli;

import io.mortise.LockClient;
import io.mortise.cli.output.OutputSanitizer;
import io.mortise.spi.LockStore;
import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which store a command talks to. */
final class StoreOptions extends CommonOptions {
  static final String VARIABLE = "MORTISE_STORE";

  private final CliEnvironment cliEnvironment;

  @Option(
      names = "--store",
      paramLabel = "URL",
      description = {
        "The store, like redis://host:6379, jdbc:postgresql://host/db?user=… or jdbc:sqlite:/var/lib/app/locks.db;"
            + " @FILE reads it from a file. Default:"
            + " MORTISE_STORE, else a file for this host only. Others see a command line: a URL with a password belongs"
            + " into MORTISE_STORE or a file."
      })
  private @Nullable String option;

  StoreOptions(CliEnvironment cliEnvironment) {
    this.cliEnvironment = cliEnvironment;
  }

  /**
   * The store's URL, perhaps with a password.
   *
   * @throws CliException if the file that should hold it cannot be read
   */
  String url() {
    Map<String, String> variables = cliEnvironment.variables();
    String url = option;
    if (url == null || url.isEmpty()) {
      url = variables.get(VARIABLE);
    }
    if (url == null || url.isEmpty()) {
      return embedded(variables);
    }
    return resolve(url);
  }

  /**
   * What an option says of a store, as a URL.
   *
   * @throws CliException if the file that should hold it cannot be read
   */
  static String resolve(String option) {
    return option.startsWith("@") ? read(option.substring(1)) : option;
  }

  /** Connects, and says so if the store is one that other hosts do not see. Blocks. */
  LockClient connect(String url, @Nullable Duration ttl) {
    prepare(url);
    return cliEnvironment.connector().connect(url, ttl);
  }

  /** The same with the store itself. Blocks. */
  LockStore open(String url) {
    prepare(url);
    return cliEnvironment.connector().open(url);
  }

  private void prepare(String url) {
    // Read when the first logger is made, which is later than this.
    if (quiet) {
      System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "error");
    }
    if (verbose) {
      System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "info");
      System.setProperty("org.slf4j.simpleLogger.log.io.mortise", "debug");
      System.setProperty("org.slf4j.simpleLogger.log.io.mortise.internal.engine.Engine", "debug");
    }
    if (!quiet && isEmbeddedDefault()) {
      cliEnvironment
          .err()
          .println(
              "mortise: locks are kept in '"
                  + OutputSanitizer.text(url.substring("jdbc:sqlite:".length()))
                  + "'. Other hosts do not see them; name a common store with --store or MORTISE_STORE.");
    }
  }

  private boolean isEmbeddedDefault() {
    String variable = cliEnvironment.variables().getOrDefault(VARIABLE, "");
    return (option == null || option.isEmpty()) && variable.isEmpty();
  }

  private static String embedded(Map<String, String> variables) {
    String state = variables.getOrDefault("XDG_STATE_HOME", "");
    // The XDG rules say that a relative path is to be ignored. So is a relative home: each working
    // folder would have locks of its own.
    Path folder =
        (state.startsWith("/") ? Path.of(state) : home(variables).resolve(".local/state"))
            .resolve("mortise");
    try {
      if (!Files.isDirectory(folder)) {
        if (FileSystems.getDefault().supportedFileAttributeViews().contains("posix")) {
          Files.createDirectories(
              folder,
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        } else {
          Files.createDirectories(folder);
        }
      }
    } catch (IOException e) {
      throw new CliException(
          ExitStatus.STORE,
          "Cannot make the folder '"
              + folder
              + "' for the locks of this host. Name a store with --store or MORTISE_STORE.",
          e);
    }
    return "jdbc:sqlite:" + folder.resolve("locks.db");
  }

  private static Path home(Map<String, String> variables) {
    return Stream.of(variables.get("HOME"), System.getProperty("user.home"))
        .filter(home -> home != null && Path.of(home).isAbsolute())
        .findFirst()
        .map(Path::of)
        .orElseThrow(
            () ->
                new CliException(
                    ExitStatus.USAGE,
                    "There is no home folder for the locks of this host: HOME is empty or relative."
                        + " Set it, or name a store with --store or MORTISE_STORE."));
  }

  private static String read(String file) {
    String url;
    try {
      url = Files.readString(Path.of(file)).strip();
    } catch (IOException | InvalidPathException e) {
      throw new CliException(
          ExitStatus.USAGE,
          "Cannot read the store's URL from '" + file + "'. It has to be a readable UTF-8 file.",
          e);
    }
    if (url.isEmpty()) {
      throw new CliException(
          ExitStatus.USAGE, "The file '" + file + "' is empty. Expected a store URL.");
    }
    return url;
  }
}
