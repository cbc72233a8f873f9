package io.mortise.zookeeper;

import static io.mortise.zookeeper.ZooKeeperStore.Options.DEFAULT;

import io.mortise.LockName;
import io.mortise.UnsupportedByStoreException;
import io.mortise.admin.Eviction;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.LockQuery;
import io.mortise.spi.LockStore;
import io.mortise.spi.LockViewPage;
import io.mortise.spi.Reply;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.SessionVerdict;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreSession;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;
import io.mortise.zookeeper.internal.AdminConnection;
import io.mortise.zookeeper.internal.DelayedTaskScheduler;
import io.mortise.zookeeper.internal.SessionLimits;
import io.mortise.zookeeper.internal.WorkerPools;
import io.mortise.zookeeper.internal.ZooKeeperConnector;
import io.mortise.zookeeper.internal.ZooKeeperTarget;
import io.mortise.zookeeper.internal.node.NodeLayout;
import io.mortise.zookeeper.internal.node.NodeNames;
import io.mortise.zookeeper.internal.node.TokenEpoch;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
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

  private final ZooKeeperConnector zooKeeperConnector;
  private final Ticker ticker;
  private final ZooKeeperStore.Options options;
  private final NodeLayout nodeLayout;
  private final SessionLimits limits;
  private final StoreProfile profile;
  private final DelayedTaskScheduler delayedTaskScheduler =
      new DelayedTaskScheduler("mortise-zookeeper-timer");
  private final ExecutorService executor;
  private final Map<SessionId, SessionCore> sessions = new ConcurrentHashMap<>();
  private final ZooKeeperInspector zooKeeperInspector;
  private volatile boolean closed;

  private ZooKeeperLockStore(
      ZooKeeperConnector zooKeeperConnector,
      ZooKeeperStore.Options options,
      String display,
      Ticker ticker,
      InstantSource wall) {
    this.zooKeeperConnector = zooKeeperConnector;
    this.ticker = ticker;
    this.options = options;
    this.nodeLayout = new NodeLayout(options.root());
    this.executor = WorkerPools.named("mortise-zookeeper-connect");
    AdminConnection adminConnection =
        new AdminConnection(zooKeeperConnector, display, options.timeout(), executor, ticker);
    this.zooKeeperInspector = new ZooKeeperInspector(this, adminConnection, display, wall);
    try {
      this.limits = adminConnection.limits(options.tick());
      this.profile =
          new StoreProfile(
              display,
              CAPABILITIES,
              options.timeout(),
              MIN_TTL,
              // Sessions of few ticks outlive their TTL, and all end at a tick.
              limits.tick().multipliedBy(4));
      adminConnection.prepare(
          nodeLayout.root(),
          TokenEpoch.initialNodes(nodeLayout, options.acl()),
          options.acl(),
          CreateMode.CONTAINER);
    } catch (RuntimeException e) {
      shutDown();
      throw e;
    }
    delayedTaskScheduler.in(EXPIRY_NANOS, this::expire);
  }

  /** Of a URL. Blocks. */
  static LockStore connect(StoreUrl url, Ticker ticker, InstantSource wall) {
    ZooKeeperTarget zooKeeperTarget = ZooKeeperTarget.parse(url, Set.of("namespace"));
    String namespace = url.parameter("namespace");
    String root = zooKeeperTarget.path().isEmpty() ? DEFAULT.root() : zooKeeperTarget.path();
    if (namespace != null) {
      root += "/" + NodeNames.encode(LockName.of(namespace));
    }
    ZooKeeperStore.Options options =
        DEFAULT
            .withRoot(root)
            .withTimeout(zooKeeperTarget.timeout())
            .withTick(zooKeeperTarget.tick())
            .withAcl(zooKeeperTarget.acl());
    return new ZooKeeperLockStore(
        ZooKeeperConnector.to(zooKeeperTarget.at("")),
        options,
        "zk:" + zooKeeperTarget.hosts() + root,
        ticker,
        wall);
  }

  static LockStore over(
      Callable<ZooKeeper> clients,
      ZooKeeperStore.Options options,
      Ticker ticker,
      InstantSource wall) {
    return new ZooKeeperLockStore(
        ZooKeeperConnector.over(clients),
        options,
        "zk:(client handed in)" + options.root(),
        ticker,
        wall);
  }

  // ---- What the parts share ----

  ZooKeeperStore.Options options() {
    return options;
  }

  NodeLayout layout() {
    return nodeLayout;
  }

  Duration relay() {
    return limits.tick();
  }

  DelayedTaskScheduler timer() {
    return delayedTaskScheduler;
  }

  ExecutorService executor() {
    return executor;
  }

  ZooKeeperInspector inspector() {
    return zooKeeperInspector;
  }

  ZooKeeperConnector connector() {
    return zooKeeperConnector;
  }

  void remember(SessionCore session) {
    sessions.put(session.id(), session);
  }

  void forget(SessionCore session) {
    sessions.remove(session.id(), session);
  }

  private void expire() {
    if (!closed) {
      long now = ticker.nanos();
      long requestTimeout = options.timeout().toNanos();
      sessions.values().forEach(session -> session.expire(now, requestTimeout));
      delayedTaskScheduler.in(EXPIRY_NANOS, this::expire);
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
  public StoreSession open(SessionSpec spec, Consumer<SessionNotification> hints) {
    SessionCore core =
        sessions.computeIfAbsent(spec.id(), unknown -> new SessionCore(this, ticker, spec));
    core.listen(hints);
    return new ZooKeeperSession(core);
  }

  @Override
  public CompletionStage<SessionVerdict> judge(SessionId session) {
    return zooKeeperInspector.judge(session);
  }

  @Override
  public CompletionStage<LockViewPage> inspect(LockQuery query) {
    return zooKeeperInspector.inspect(query);
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
    zooKeeperConnector.close();
    List<CompletableFuture<?>> ends = new ArrayList<>();
    sessions.values().forEach(session -> ends.add(session.close().toCompletableFuture()));
    ends.add(CompletableFuture.runAsync(zooKeeperInspector::close, executor));
    try {
      CompletableFuture.allOf(ends.toArray(CompletableFuture<?>[]::new)).get(3, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      // They end by themselves.
    }
    shutDown();
  }

  private void shutDown() {
    closed = true;
    zooKeeperInspector.close();
    delayedTaskScheduler.close();
    executor.shutdown();
  }
}
