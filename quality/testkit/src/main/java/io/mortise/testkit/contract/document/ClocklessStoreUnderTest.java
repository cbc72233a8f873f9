package io.mortise.testkit.contract.document;

import io.mortise.annotation.Beta;
import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreUrl;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.StoreUnderTest;
import io.mortise.testkit.server.LocalServer;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A store of documents {@linkplain io.mortise.support.document.DocumentStore#clockless without a
 * clock}, opened by its URL with the parameters {@code namespace} and {@code timeout}. Sessions end
 * by observation, so the store looks at all of them before time passes.
 */
@Beta
public final class ClocklessStoreUnderTest implements StoreUnderTest {
  private static final AtomicInteger NAMESPACES = new AtomicInteger();
  private static final int ALL = 10_000;

  private final Supplier<? extends LocalServer> server;
  private final String parameters;
  private final boolean pushes;
  private final @Nullable Supplier<Runnable> forbidding;
  private String namespace = "";
  private @Nullable LockStore store;

  /**
   * Opens nothing yet.
   *
   * @param server the server that all tests share, and some restart
   */
  public ClocklessStoreUnderTest(Supplier<? extends LocalServer> server) {
    this(server, "");
  }

  /**
   * The same, with further parameters of the URL.
   *
   * @param parameters each with an ampersand before it
   */
  public ClocklessStoreUnderTest(Supplier<? extends LocalServer> server, String parameters) {
    this(server, parameters, true, null);
  }

  private ClocklessStoreUnderTest(
      Supplier<? extends LocalServer> server,
      String parameters,
      boolean pushes,
      @Nullable Supplier<Runnable> forbidding) {
    this.server = server;
    this.parameters = parameters;
    this.pushes = pushes;
    this.forbidding = forbidding;
  }

  /** The same without {@link Capability#PUSH}, for documents that cannot be watched. */
  public ClocklessStoreUnderTest withoutPush() {
    return new ClocklessStoreUnderTest(server, parameters, false, forbidding);
  }

  /**
   * The same with a server that can be switched.
   *
   * @param forbidding as {@link #forbidWrites()}
   */
  public ClocklessStoreUnderTest switchedBy(Supplier<Runnable> forbidding) {
    return new ClocklessStoreUnderTest(server, parameters, pushes, forbidding);
  }

  @Override
  public LockStore open() {
    namespace = "contract" + NAMESPACES.incrementAndGet();
    return reopen();
  }

  private LockStore reopen() {
    LockStore opened = another();
    store = opened;
    return opened;
  }

  @Override
  public Set<Capability> capabilities() {
    Set<Capability> all =
        EnumSet.complementOf(EnumSet.of(Capability.SKIPS_DISCONNECTED, Capability.AT_MOST));
    if (!pushes) {
      all.remove(Capability.PUSH);
    }
    return all;
  }

  @Override
  public LockStore another() {
    return LockStore.connect(
        StoreUrl.parse(
            server.get().url() + "?namespace=" + namespace + "&timeout=10s" + parameters));
  }

  /** Longer than usual: each pause begins with a sweep of unknown duration. */
  @Override
  public Duration shortTtl() {
    return Duration.ofMillis(1500);
  }

  @Override
  public void pass(Duration duration) {
    if (store != null) {
      BoundedWait.join(store.sweep(ALL));
    }
    BoundedWait.pass(duration);
  }

  @Override
  public Optional<LockStore> restart(LockStore before) {
    before.close();
    server.get().restart();
    return Optional.of(reopen());
  }

  @Override
  public Optional<Runnable> forbidWrites() {
    return Optional.ofNullable(forbidding).map(Supplier::get);
  }

  @Override
  public void close() {
    if (store != null) {
      store.close();
    }
  }
}
