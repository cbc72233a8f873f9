package io.mortise.cli;

import io.mortise.LockClient;
import io.mortise.LockClientBuilder;
import io.mortise.console.view.NestedRuns;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreUrl;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Opens the stores that are on the class path. */
final class StoreConnector implements CliEnvironment.StoreOpener {
  private static final String SQLITE_FOLDER = "org.sqlite.tmpdir";

  /** Set by the launchers, to a folder with the unpacked library. */
  private static final String SQLITE_LIBRARY = "org.sqlite.lib.path";

  private final String clientName;
  private final String temporary;

  StoreConnector() {
    this(Map.of());
  }

  /** Creates the connector of a tool with these environment variables. */
  StoreConnector(Map<String, String> variables) {
    this.clientName = NestedRuns.clientName(variables);
    this.temporary = variables.getOrDefault("TMPDIR", "");
  }

  @Override
  public LockClient connect(String url, @Nullable Duration ttl) {
    return withDriver(url, builder(url, ttl)::build);
  }

  @Override
  public LockClient connect(String url, @Nullable Duration ttl, LockClient also) {
    return withDriver(url, builder(url, ttl).alsoHolding(also)::build);
  }

  private LockClientBuilder builder(String url, @Nullable Duration ttl) {
    LockClientBuilder builder = LockClient.builder().url(url).name(clientName);
    return ttl == null ? builder : builder.ttl(ttl);
  }

  @Override
  public LockStore open(String url) {
    return withDriver(url, () -> LockStore.connect(StoreUrl.parse(url)));
  }

  private <T> T withDriver(String url, Supplier<T> opening) {
    boolean unpacks =
        url.startsWith("jdbc:sqlite:")
            && System.getProperty(SQLITE_FOLDER) == null
            && System.getProperty(SQLITE_LIBRARY) == null;
    return unpacks ? withOwnFolder(opening) : opening.get();
  }

  /**
   * The SQLite driver unpacks its native library into the common temporary folder, and removes
   * other copies there. Tools that start concurrently would disturb each other, and a killed one
   * leaves a megabyte. So each gets its own folder, needed only until the library is loaded.
   */
  private <T> T withOwnFolder(Supplier<T> opening) {
    Path named = Path.of(temporary);
    boolean isThere = !temporary.isEmpty() && Files.isDirectory(named);
    Path parent = isThere ? named : Path.of(System.getProperty("java.io.tmpdir"));
    Path folder;
    try {
      folder = Files.createTempDirectory(parent, "mortise-sqlite-");
    } catch (IOException e) {
      throw new CliException(
          ExitStatus.STORE,
          "The library of SQLite cannot be unpacked: cannot write to the temporary folder '%s'. Name another in TMPDIR."
              .formatted(parent),
          e);
    }
    System.setProperty(SQLITE_FOLDER, folder.toString());
    try {
      return opening.get();
    } finally {
      try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
        for (Path file : files) {
          Files.delete(file);
        }
        Files.delete(folder);
      } catch (IOException e) {
        // On systems that lock files in use the driver deletes them at the end of the process.
        folder.toFile().deleteOnExit();
      }
    }
  }
}
