package io.mortise.cli;

import io.mortise.LockClient;
import io.mortise.cli.output.SanitizedStream;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreUrl;
import java.io.InputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The environment of the tool, passed in so that tests can replace it.
 *
 * @param variables the environment
 * @param connector opens stores
 * @param out sanitized for terminals by {@link SanitizedStream}, like {@code err}
 */
record CliEnvironment(
    Map<String, String> variables,
    StoreOpener connector,
    InputStream in,
    PrintStream out,
    PrintStream err) {

  CliEnvironment {
    out = SanitizedStream.out(out);
    err = SanitizedStream.err(err);
  }

  /** The environment of this process, whose log goes to the same standard error. */
  static CliEnvironment ofProcess(StoreOpener connector) {
    System.setErr(SanitizedStream.err(System.err));
    return new CliEnvironment(System.getenv(), connector, System.in, System.out, System.err);
  }

  /** Opens stores. */
  @FunctionalInterface
  interface StoreOpener {
    /**
     * Connects. Blocks.
     *
     * @param ttl of the session; null for the default
     */
    LockClient connect(String url, @Nullable Duration ttl);

    /**
     * As {@link #connect(String, Duration)}; the client also holds the locks of another one.
     * Blocks.
     *
     * @param also closed by the caller, after the client
     */
    default LockClient connect(String url, @Nullable Duration ttl, LockClient also) {
      throw new UnsupportedOperationException("This opener holds no other locks.");
    }

    /** Opens the store itself, to inspect it. Blocks. */
    default LockStore open(String url) {
      return LockStore.connect(StoreUrl.parse(url));
    }
  }
}
