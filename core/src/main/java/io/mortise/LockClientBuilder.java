package io.mortise;

import io.mortise.internal.engine.EngineClient;
import io.mortise.internal.engine.SystemEnv;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreUrl;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Makes a {@link LockClient}. Not thread-safe. */
public final class LockClientBuilder {
  /**
   * How long a session lives without renewal, unless told otherwise: outlasts most pauses, and
   * frees soon after a crash.
   */
  public static final Duration DEFAULT_TTL = Duration.ofSeconds(15);

  private static final Duration SHORTEST_TTL = Duration.ofMillis(1);
  private static final Duration LONGEST_TTL = Duration.ofHours(1);

  private @Nullable StoreUrl url;
  private @Nullable LockStore store;
  private Duration ttl = DEFAULT_TTL;
  private String name = "";

  LockClientBuilder() {}

  /**
   * Where the store is, for example {@code redis://localhost:6379}.
   *
   * @throws IllegalArgumentException if it is not a store URL
   */
  public LockClientBuilder url(String value) {
    url = StoreUrl.parse(value);
    return this;
  }

  /** A ready store. It stays the caller's to close. */
  public LockClientBuilder store(LockStore value) {
    store = value;
    return this;
  }

  /**
   * How long the session lives after its last renewal: a crashed holder's locks are free after
   * this; a pause longer than this loses them. Default {@link #DEFAULT_TTL}.
   *
   * @throws IllegalArgumentException if it is not within 1 ms and 1 hour
   */
  public LockClientBuilder ttl(Duration value) {
    if (value.compareTo(SHORTEST_TTL) < 0 || value.compareTo(LONGEST_TTL) > 0) {
      throw new IllegalArgumentException(
          "A session TTL of " + value + " is not within 1 ms and 1 hour.");
    }
    ttl = value;
    return this;
  }

  /** What this client is called where people look at locks. */
  public LockClientBuilder name(String value) {
    name = value;
    return this;
  }

  /**
   * Connects. Blocks.
   *
   * @throws IllegalStateException if neither or both of URL and store are given
   * @throws IllegalArgumentException if no store knows the URL's scheme, or a parameter of it is
   *     unknown or wrong, or the TTL is shorter than the store can keep
   * @throws StoreUnavailableException if the store cannot be reached
   * @throws StoreUnfitException if it can, but must not be used as it is
   */
  public LockClient build() {
    if ((url == null) == (store == null)) {
      throw new IllegalStateException("Give either the URL of a store or a store.");
    }
    LockStore opened = store == null ? LockStore.connect(Objects.requireNonNull(url)) : store;
    boolean own = store == null;
    SystemEnv system = new SystemEnv();
    try {
      return new EngineClient(
          opened,
          system.env(ttl, new ClientLabel(host(), ProcessHandle.current().pid(), name)),
          () -> {
            system.close();
            if (own) {
              opened.close();
            }
          });
    } catch (RuntimeException e) {
      system.close();
      if (own) {
        opened.close();
      }
      throw e;
    }
  }

  private static String host() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      String name = System.getenv("HOSTNAME");
      return name == null ? "unknown" : name;
    }
  }
}
