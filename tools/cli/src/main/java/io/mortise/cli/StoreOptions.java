package io.mortise.cli;

import io.mortise.LockClient;
import io.mortise.StoreUnfitException;
import io.mortise.console.view.OutputSanitizer;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreUrl;
import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options that name the store of a command. */
final class StoreOptions extends CommonOptions {
  /** The logger of operators' actions at the console and in {@code top}. */
  static final String AUDIT = "io.mortise.console.observer.Evictor";

  static final String VARIABLE = "MORTISE_STORE";
  private static final Pattern MEMORY_MEMBER = Pattern.compile("[:,]mem:");
  private static final String SQLITE = "jdbc:sqlite:";

  /** A store without locks, in place of this host's own file while that is missing. */
  private static final String EMPTY = "mem:";

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

  /** Tells the user, unless the command is to be quiet. */
  void say(String text) {
    if (!quiet) {
      cliEnvironment.err().println("mortise: " + OutputSanitizer.text(text));
    }
  }

  /**
   * The store's URL, perhaps with a password.
   *
   * @throws CliException if the file that should hold it cannot be read
   */
  String url() {
    String given = given();
    return given.isEmpty() ? embedded(cliEnvironment.variables()) : resolve(given);
  }

  private String given() {
    return option != null && !option.isEmpty()
        ? option
        : cliEnvironment.variables().getOrDefault(VARIABLE, "");
  }

  /**
   * The store as passed to a command of this tool: the file that holds the URL, or the URL without
   * its secrets.
   *
   * @param url as returned by {@link #url}
   */
  String handedOn(String url) {
    String given = given();
    return given.startsWith("@")
        ? "@" + Path.of(given.substring(1)).toAbsolutePath()
        : OutputSanitizer.url(url);
  }

  /** Refuses a store in the memory of this process: its locks exclude no other process. */
  private static void refuseMemory(String url) {
    if (url.startsWith("mem:")
        || (url.startsWith("quorum:") && MEMORY_MEMBER.matcher(url).find())) {
      throw new CliException(
          ExitStatus.USAGE,
          "Store '"
              + OutputSanitizer.url(url)
              + "' keeps locks in the memory of one process, and no other command would see them. For one host take"
              + " jdbc:sqlite:/PATH/locks.db.");
    }
  }

  /**
   * Returns the store of an option, as a URL.
   *
   * @throws CliException if the file that should hold it cannot be read
   */
  static String resolve(String option) {
    return option.startsWith("@") ? read(option.substring(1)) : option;
  }

  /**
   * Connects to acquire locks. Creates missing files and tables; reports a new store that other
   * hosts do not see. Blocks.
   *
   * @param also whose locks the client holds, too; null for none
   */
  LockClient connect(String url, @Nullable Duration ttl, @Nullable LockClient also) {
    setLogLevel();
    refuseMemory(url);
    makeEmbedded(url);
    return also == null
        ? cliEnvironment.connector().connect(url, ttl)
        : cliEnvironment.connector().connect(url, ttl, also);
  }

  /** Connects to a store that another option names, to acquire locks. Blocks. */
  LockClient connectOther(String url, @Nullable Duration ttl) {
    setLogLevel();
    refuseMemory(url);
    return cliEnvironment.connector().connect(url, ttl);
  }

  /**
   * Connects to inspect, without creating a missing store. Blocks.
   *
   * @throws CliException if there is no such store
   */
  LockClient look() {
    Path file = missingFile(url());
    if (file != null && isEmbeddedDefault()) {
      setLogLevel();
      return cliEnvironment.connector().connect(EMPTY, null);
    }
    return watch();
  }

  /**
   * Connects to observe, without creating a missing store. Blocks.
   *
   * @throws CliException if there is no such store; also without this host's own file, which may be
   *     created later
   */
  LockClient watch() {
    return looking(url -> cliEnvironment.connector().connect(url, null));
  }

  /**
   * Opens the store itself, to examine it, without creating a missing store. Blocks.
   *
   * @throws CliException if there is no such store
   */
  LockStore examine() {
    return looking(cliEnvironment.connector()::open);
  }

  private <T> T looking(Function<String, T> opening) {
    setLogLevel();
    String url = url();
    refuseMemory(url);
    refuseMissing(missingFile(url));
    if (!url.startsWith("jdbc:") || StoreUrl.parse(url).parameter("create") != null) {
      return opening.apply(url);
    }
    String separator = url.endsWith("?") ? "" : url.contains("?") ? "&" : "?";
    try {
      return opening.apply(url + separator + "create=false");
    } catch (StoreUnfitException e) {
      if (!String.valueOf(e.getMessage()).contains("create=false forbids")) {
        throw e;
      }
      throw new CliException(
          ExitStatus.STORE,
          "Store '"
              + OutputSanitizer.url(url)
              + "' has no tables for locks, and looking makes none. Check the URL and its prefix; the first"
              + " 'mortise run' makes them.",
          e);
    }
  }

  /** Opens the store itself, to examine it. Creates a server's tables, but no file. Blocks. */
  LockStore open() {
    setLogLevel();
    String url = url();
    if (isEmbeddedDefault()) {
      makeEmbedded(url);
    } else {
      refuseMissing(missingFile(url));
    }
    return cliEnvironment.connector().open(url);
  }

  /** The place of an empty result, to be appended to "no lock is held". */
  String place() {
    return isEmbeddedDefault()
        ? " on this host (in '"
            + OutputSanitizer.text(fileOf(url()))
            + "'); other hosts have others"
        : "";
  }

  private static void refuseMissing(@Nullable Path file) {
    if (file != null) {
      throw new CliException(
          ExitStatus.STORE,
          "There is no lock file '"
              + file
              + "', and looking makes none. Check the path; the first 'mortise run' makes the file.");
    }
  }

  /** The file of a SQLite store, if missing; null for other stores. */
  private static @Nullable Path missingFile(String url) {
    if (!url.startsWith(SQLITE) || "true".equals(StoreUrl.parse(url).parameter("create"))) {
      return null;
    }
    Path file = Path.of(fileOf(url));
    return Files.exists(file) ? null : file;
  }

  private static String fileOf(String url) {
    return StoreUrl.parse(url).base().substring(SQLITE.length());
  }

  private void setLogLevel() {
    // SLF4J reads this with its first logger, which is created later.
    if (quiet) {
      System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "error");
      // Operators' actions are still logged.
      System.setProperty("org.slf4j.simpleLogger.log." + AUDIT, "warn");
    }
    if (verbose) {
      System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "info");
      System.setProperty("org.slf4j.simpleLogger.log.io.mortise", "debug");
      System.setProperty("org.slf4j.simpleLogger.log.io.mortise.internal.engine.Engine", "debug");
    }
  }

  /** Creates the folder of this host's own locks, and reports it. */
  private void makeEmbedded(String url) {
    if (!isEmbeddedDefault()) {
      return;
    }
    Path file = Path.of(fileOf(url));
    if (!quiet && (verbose || !Files.exists(file))) {
      cliEnvironment
          .err()
          .println(
              "mortise: locks are kept in '"
                  + OutputSanitizer.text(file.toString())
                  + "'. Other hosts do not see them; name a common store with --store or MORTISE_STORE.");
    }
    makeFolder(Objects.requireNonNull(file.getParent()));
  }

  private boolean isEmbeddedDefault() {
    return given().isEmpty();
  }

  private static String embedded(Map<String, String> variables) {
    String state = variables.getOrDefault("XDG_STATE_HOME", "");
    // The XDG specification demands to ignore a relative path. A relative home is ignored too: each
    // working folder would have its own locks.
    Path folder =
        (state.startsWith("/") ? Path.of(state) : home(variables).resolve(".local/state"))
            .resolve("mortise");
    return SQLITE + folder.resolve("locks.db");
  }

  private static void makeFolder(Path folder) {
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
