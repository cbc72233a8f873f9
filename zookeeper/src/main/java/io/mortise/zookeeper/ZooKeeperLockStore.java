package io.mortise.zookeeper;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.UnsupportedByStoreException;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.LockName;
import io.mortise.spi.LockPage;
import io.mortise.spi.LockQuery;
import io.mortise.spi.LockStore;
import io.mortise.spi.News;
import io.mortise.spi.Reply;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreSession;
import io.mortise.spi.Verdict;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

/**
 * Locks in one ZooKeeper ensemble. Each session is a ZooKeeper session with a connection of its own
 * (or that of the client that was handed in); looking around has another.
 */
final class ZooKeeperLockStore implements LockStore {
  /**
   * What the store has. The rest needs a state that outlives a process, or a clock of the store.
   */
  static final Set<Capability> CAPABILITIES =
      EnumSet.of(
          Capability.SESSION,
          Capability.QUEUE,
          Capability.SHARED,
          Capability.PERMITS,
          Capability.TOKEN,
          Capability.PUSH);

  private static final Duration MIN_TTL = Duration.ofMillis(100);
  private static final Duration DEFAULT_TICK = Duration.ofSeconds(2);
  private static final long EXPIRY_NANOS = 250_000_000;

  private final @Nullable ZooKeeperTarget target;
  private final @Nullable Callable<ZooKeeper> clients;
  private final ZooKeeperStore.Options options;
  private final Layout layout;
  private final Duration relay;
  private final StoreProfile profile;
  private final Timer timer = new Timer("mortise-zookeeper-timer");
  private final ExecutorService executor;
  private final Leftovers leftovers = new Leftovers(timer);
  private final Map<SessionId, SessionCore> sessions = new ConcurrentHashMap<>();
  private final Observer observer;
  private volatile boolean closed;

  private ZooKeeperLockStore(
      @Nullable ZooKeeperTarget target,
      @Nullable Callable<ZooKeeper> clients,
      ZooKeeperStore.Options options,
      String display) {
    this.target = target;
    this.clients = clients;
    this.options = options;
    this.layout = new Layout(options.root());
    this.executor =
        Executors.newCachedThreadPool(
            task -> {
              Thread thread = new Thread(task, "mortise-zookeeper-connect");
              thread.setDaemon(true);
              return thread;
            });
    this.observer = new Observer(this, display);
    try {
      this.relay =
          !options.tick().isZero()
              ? options.tick()
              : target == null ? DEFAULT_TICK : observer.tick();
      this.profile =
          new StoreProfile(
              display,
              CAPABILITIES,
              options.timeout(),
              MIN_TTL,
              // Sessions outlive their TTL by what lies between two renewals, and end at a tick.
              relay.multipliedBy(4));
      observer.check();
    } catch (RuntimeException e) {
      shutDown();
      throw e;
    }
    timer.in(EXPIRY_NANOS, this::expire);
  }

  static LockStore connect(ZooKeeperTarget target) {
    return new ZooKeeperLockStore(target, null, target.options(), target.display());
  }

  static LockStore over(Callable<ZooKeeper> clients, ZooKeeperStore.Options options) {
    return new ZooKeeperLockStore(null, clients, options, "zk:(client handed in)" + options.root());
  }

  // ---- What the parts share ----

  ZooKeeperStore.Options options() {
    return options;
  }

  Layout layout() {
    return layout;
  }

  Duration relay() {
    return relay;
  }

  Timer timer() {
    return timer;
  }

  ExecutorService executor() {
    return executor;
  }

  Observer observer() {
    return observer;
  }

  Leftovers leftovers() {
    return leftovers;
  }

  /** A connection, or the beginning of one. May block where clients are handed in. */
  Handle connect(int sessionMillis, Handle.Listener listener) {
    if (closed) {
      throw new StoreUnavailableException("The store is closed.");
    }
    if (target != null) {
      return Handle.connect(target, sessionMillis, listener);
    }
    try {
      return Handle.over(java.util.Objects.requireNonNull(clients).call(), listener);
    } catch (Exception e) {
      throw new StoreUnavailableException("No ZooKeeper client was handed in.", e);
    }
  }

  void remember(SessionCore session) {
    sessions.put(session.id(), session);
  }

  void forget(SessionCore session) {
    sessions.remove(session.id(), session);
  }

  private void expire() {
    if (!closed) {
      long now = System.nanoTime();
      long patience = options.timeout().toNanos();
      sessions.values().forEach(session -> session.expire(now, patience));
      timer.in(EXPIRY_NANOS, this::expire);
    }
  }

  // ---- The store ----

  @Override
  public StoreProfile profile() {
    return profile;
  }

  @Override
  public StoreSession open(SessionSpec spec, Consumer<News> hints) {
    SessionCore core = sessions.computeIfAbsent(spec.id(), unknown -> new SessionCore(this, spec));
    core.listen(hints);
    return new ZooKeeperSession(core);
  }

  @Override
  public CompletionStage<Verdict> judge(SessionId session) {
    return observer.judge(session);
  }

  @Override
  public CompletionStage<LockPage> inspect(LockQuery query) {
    return observer.inspect(query);
  }

  @Override
  public CompletionStage<Reply.Ended> evict(LockName name, AttemptId attempt, Eviction how) {
    return CompletableFuture.failedFuture(
        new UnsupportedByStoreException(
            "Store '" + profile.display() + "' cannot evict: end the holder's process instead."));
  }

  /** Nothing is left by the dead: their nodes go with their sessions, idle containers later. */
  @Override
  public CompletionStage<Integer> sweep(int budget) {
    return CompletableFuture.completedFuture(0);
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    CompletableFuture<?>[] ends =
        sessions.values().stream()
            .map(session -> session.close().toCompletableFuture())
            .toArray(CompletableFuture<?>[]::new);
    try {
      CompletableFuture.allOf(ends).get(3, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (java.util.concurrent.ExecutionException | java.util.concurrent.TimeoutException e) {
      // They end by themselves.
    }
    shutDown();
  }

  private void shutDown() {
    closed = true;
    observer.close();
    timer.close();
    executor.shutdown();
  }

  /** For what must not be used as it is. */
  StoreUnfitException unfit(String display, String why) {
    return new StoreUnfitException("Store '" + display + "' cannot be used: " + why);
  }
}
