package io.mortise.cli;

import io.mortise.LockClient;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreUrl;
import java.io.InputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the tool finds around it. Handed in, so that a test can be the surroundings.
 *
 * @param variables the environment
 * @param connector opens stores
 * @param out made harmless for terminals by {@link SafeStream}, as is {@code err}
 */
record Surroundings(
    Map<String, String> variables,
    Connector connector,
    InputStream in,
    PrintStream out,
    PrintStream err) {

  Surroundings {
    out = SafeStream.out(out);
    err = SafeStream.err(err);
  }

  /** Those of this process, whose log goes to the same standard error. */
  static Surroundings ofProcess(Connector connector) {
    System.setErr(SafeStream.err(System.err));
    return new Surroundings(System.getenv(), connector, System.in, System.out, System.err);
  }

  /** Opens stores. */
  @FunctionalInterface
  interface Connector {
    /**
     * Connects. Blocks.
     *
     * @param ttl of the session; null for the default
     */
    LockClient connect(String url, @Nullable Duration ttl);

    /** Opens the store itself, to look at it. Blocks. */
    default LockStore open(String url) {
      return LockStore.connect(StoreUrl.parse(url));
    }
  }
}
