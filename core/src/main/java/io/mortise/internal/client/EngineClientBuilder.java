package io.mortise.internal.client;

import io.mortise.LockClient;
import io.mortise.LockClientBuilder;
import io.mortise.OuterLocks;
import io.mortise.Store;
import io.mortise.event.LockListener;
import io.mortise.internal.outer.OuterLockProvider;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.internal.runtime.HostName;
import io.mortise.internal.runtime.SystemEnv;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.DurationText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** Builds a client over the engine. The API finds it as a service, without depending on it. */
public final class EngineClientBuilder implements LockClientBuilder {
  private static final Duration SHORTEST_TTL = Duration.ofMillis(1);
  private static final Duration LONGEST_TTL = Duration.ofHours(1);
  private static final int MOST_IDLE_LOCKS = 1_000_000;
  private static final AtomicBoolean DELAYS = new AtomicBoolean();

  private @Nullable StoreUrl url;
  private @Nullable LockStore store;
  private @Nullable OuterLocks outer;
  private Duration ttl = DEFAULT_TTL;
  private String name = "";
  private int maxIdleLocks = DEFAULT_MAX_IDLE_LOCKS;
  private final List<LockListener> listeners = new ArrayList<>();

  @Override
  public LockClientBuilder url(String url) {
    this.url = StoreUrl.parse(Objects.requireNonNull(url, "url"));
    return this;
  }

  @Override
  public LockClientBuilder store(Store store) {
    Objects.requireNonNull(store, "store");
    if (!(store instanceof LockStore ready)) {
      throw new IllegalArgumentException(
          "A store of class "
              + store.getClass().getName()
              + " cannot keep locks. Take one of a store module, such as JdbcStore.open(…) or LettuceStore.over(…).");
    }
    this.store = ready;
    return this;
  }

  @Override
  public LockClientBuilder ttl(Duration ttl) {
    Objects.requireNonNull(ttl, "ttl");
    if (ttl.compareTo(SHORTEST_TTL) < 0 || ttl.compareTo(LONGEST_TTL) > 0) {
      throw new IllegalArgumentException(
          "A session TTL of " + DurationText.formatExact(ttl) + " is not within 1ms and 1h.");
    }
    this.ttl = ttl;
    return this;
  }

  @Override
  public LockClientBuilder name(String name) {
    this.name = Objects.requireNonNull(name, "name");
    return this;
  }

  @Override
  public LockClientBuilder maxIdleLocks(int count) {
    if (count < 1 || count > MOST_IDLE_LOCKS) {
      throw new IllegalArgumentException(
          "A client keeps 1 to " + MOST_IDLE_LOCKS + " locks idle, not " + count + ".");
    }
    maxIdleLocks = count;
    return this;
  }

  @Override
  public LockClientBuilder listener(LockListener listener) {
    listeners.add(Objects.requireNonNull(listener, "listener"));
    return this;
  }

  @Override
  public LockClientBuilder alsoHolding(OuterLocks outer) {
    this.outer = Objects.requireNonNull(outer, "outer");
    return this;
  }

  @Override
  public LockClient build() {
    if ((url == null) == (store == null)) {
      throw new IllegalStateException("Give either the URL of a store or a store.");
    }
    startDelays();
    LockStore opened = store == null ? LockStore.connect(Objects.requireNonNull(url)) : store;
    boolean own = store == null;
    SystemEnv system = new SystemEnv();
    try {
      EngineClient client =
          new EngineClient(
              outer == null ? opened : OuterLockProvider.find().around(opened, outer, ttl),
              system.env(ttl, new ClientLabel(HostName.own(), ProcessHandle.current().pid(), name)),
              List.copyOf(listeners),
              maxIdleLocks,
              () -> {
                system.close();
                if (own) {
                  opened.close();
                }
              });
      String namespace = url == null ? null : url.parameter("namespace");
      client.tellStart(namespace == null ? "" : namespace);
      return client;
    } catch (RuntimeException e) {
      system.close();
      if (own) {
        opened.close();
      }
      throw e;
    }
  }

  /**
   * The JDK's one thread for delays inherits from the first thread that needs it, and never ends.
   */
  private static void startDelays() {
    if (DELAYS.compareAndSet(false, true)) {
      CompletableFuture<Void> delayed = new CompletableFuture<>();
      CompletionStages.detached(
              "mortise-delays",
              () -> delayed.completeOnTimeout(null, 1, TimeUnit.NANOSECONDS) == delayed)
          .join();
    }
  }

  @Override
  public String toString() {
    return "LockClientBuilder[" + (store == null ? url : store) + "]";
  }
}
