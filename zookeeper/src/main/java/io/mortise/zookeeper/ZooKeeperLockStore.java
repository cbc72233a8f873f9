package io.mortise.zookeeper;

import static io.mortise.zookeeper.ZooKeeperStore.Options.DEFAULT;

import io.mortise.LockName;
import io.mortise.UnsupportedByStoreException;
import io.mortise.admin.Eviction;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.LockPage;
import io.mortise.spi.LockQuery;
import io.mortise.spi.LockStore;
import io.mortise.spi.News;
import io.mortise.spi.Reply;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreSession;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.Verdict;
import io.mortise.zookeeper.internal.Connector;
import io.mortise.zookeeper.internal.Lookout;
import io.mortise.zookeeper.internal.Servers;
import io.mortise.zookeeper.internal.SessionLimits;
import io.mortise.zookeeper.internal.Timer;
import io.mortise.zookeeper.internal.Workers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooKeeper;

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
  private static final long EXPIRY_NANOS = 250_000_000;

  private final Connector connector;
  private final ZooKeeperStore.Options options;
  private final Layout layout;
  private final SessionLimits limits;
  private final StoreProfile profile;
  private final Timer timer = new Timer("mortise-zookeeper-timer");
  private final ExecutorService executor;
  private final Map<SessionId, SessionCore> sessions = new ConcurrentHashMap<>();
  private final Observer observer;
  private volatile boolean closed;

  private ZooKeeperLockStore(Connector connector, ZooKeeperStore.Options options, String display) {
    this.connector = connector;
    this.options = options;
    this.layout = new Layout(options.root());
    this.executor = Workers.named("mortise-zookeeper-connect");
    Lookout lookout = new Lookout(connector, display, options.timeout(), executor);
    this.observer = new Observer(this, lookout, display);
    try {
      this.limits = lookout.limits(options.tick());
      this.profile =
          new StoreProfile(
              display,
              CAPABILITIES,
              options.timeout(),
              MIN_TTL,
              // Sessions of few ticks outlive their TTL, and all end at a tick.
              limits.tick().multipliedBy(4));
      lookout.prepare(
          layout.root(),
          TokenEpoch.birth(layout, options.acl()),
          options.acl(),
          CreateMode.CONTAINER);
    } catch (RuntimeException e) {
      shutDown();
      throw e;
    }
    timer.in(EXPIRY_NANOS, this::expire);
  }

  /** Of a URL. Blocks. */
  static LockStore connect(StoreUrl url) {
    Servers servers = Servers.parse(url, Set.of("namespace"));
    String namespace = url.parameter("namespace");
    String root = servers.path().isEmpty() ? DEFAULT.root() : servers.path();
    if (namespace != null) {
      root += "/" + NodeNames.encode(LockName.of(namespace));
    }
    ZooKeeperStore.Options options =
        DEFAULT
            .withRoot(root)
            .withTimeout(servers.timeout())
            .withTick(servers.tick())
            .withAcl(servers.acl());
    return new ZooKeeperLockStore(
        Connector.to(servers.at("")), options, "zk:" + servers.hosts() + root);
  }

  static LockStore over(Callable<ZooKeeper> clients, ZooKeeperStore.Options options) {
    return new ZooKeeperLockStore(
        Connector.over(clients), options, "zk:(client handed in)" + options.root());
  }

  // ---- What the parts share ----

  ZooKeeperStore.Options options() {
    return options;
  }

  Layout layout() {
    return layout;
  }

  Duration relay() {
    return limits.tick();
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

  Connector connector() {
    return connector;
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
  public void checkTtl(Duration ttl) {
    LockStore.super.checkTtl(ttl);
    limits.check(ttl, profile.display());
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
  public CompletionStage<StoreReport> examine() {
    return CompletableFuture.completedFuture(limits.report("zk"));
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    // Before: an engine that hears of the end of a session would begin another.
    connector.close();
    List<CompletableFuture<?>> ends = new ArrayList<>();
    sessions.values().forEach(session -> ends.add(session.close().toCompletableFuture()));
    ends.add(CompletableFuture.runAsync(observer::close, executor));
    try {
      CompletableFuture.allOf(ends.toArray(CompletableFuture<?>[]::new)).get(3, TimeUnit.SECONDS);
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
}
