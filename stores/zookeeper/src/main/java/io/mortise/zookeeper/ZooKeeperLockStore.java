package io.mortise.zookeeper;

import static io.mortise.zookeeper.ZooKeeperOptions.DEFAULT;

import io.mortise.LockName;
import io.mortise.admin.Eviction;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.admin.SessionInfo;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.Fact;
import io.mortise.spi.LockStore;
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
import io.mortise.support.internal.server.ServerIdentity;
import io.mortise.support.internal.session.AtLeastMonitor;
import io.mortise.zookeeper.internal.DelayedTaskScheduler;
import io.mortise.zookeeper.internal.NodeFacts;
import io.mortise.zookeeper.internal.StoreResources;
import io.mortise.zookeeper.internal.ZooKeeperConnector;
import io.mortise.zookeeper.internal.ZooKeeperTarget;
import io.mortise.zookeeper.internal.node.AtLeastMark;
import io.mortise.zookeeper.internal.node.NodeLayout;
import io.mortise.zookeeper.internal.node.NodeNames;
import io.mortise.zookeeper.internal.node.TokenEpoch;
import java.time.Duration;
import java.time.InstantSource;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

/**
 * Locks in one ZooKeeper ensemble. Each session is a ZooKeeper session with a connection of its own
 * (or that of the client that was handed in); inspection has another.
 */
final class ZooKeeperLockStore implements LockStore {
  /**
   * The capabilities of the store. The others need state that outlives a process, or a clock of the
   * store.
   */
  static final Set<Capability> CAPABILITIES =
      EnumSet.of(
          Capability.SESSION,
          Capability.QUEUE,
          Capability.SHARED,
          Capability.PERMITS,
          Capability.AT_LEAST,
          Capability.TOKEN,
          Capability.DOWNGRADE,
          Capability.EVICT,
          Capability.PUSH,
          Capability.CALL_BACK,
          Capability.FACTS);

  private static final Duration MIN_TTL = Duration.ofMillis(100);
  private static final long EXPIRY_NANOS = 250_000_000;

  private final Ticker ticker;
  private final ZooKeeperOptions options;
  private final NodeLayout nodeLayout;
  private final StoreResources resources;
  private final StoreProfile profile;
  private final Map<SessionId, SessionCore> sessions = new ConcurrentHashMap<>();
  private final ZooKeeperInspector zooKeeperInspector;
  private final ZooKeeperSurvey zooKeeperSurvey;
  private final NodeFacts nodeFacts;
  private final AttemptEviction attemptEviction = new AttemptEviction(this);
  private final ShutLocks shutLocks = new ShutLocks(this);
  private final AtLeastMonitor atLeastMonitor;
  private final ServerIdentity ensembles;

  private ZooKeeperLockStore(
      ZooKeeperConnector zooKeeperConnector,
      ZooKeeperOptions options,
      String display,
      Ticker ticker,
      InstantSource wall) {
    this.ticker = ticker;
    this.options = options;
    this.nodeLayout = new NodeLayout(options.root());
    this.resources =
        new StoreResources(zooKeeperConnector, display, options.timeout(), options.tick(), ticker);
    this.profile =
        new StoreProfile(
            display,
            CAPABILITIES,
            options.timeout(),
            MIN_TTL,
            // Sessions of few ticks outlive their TTL, and all end at a tick.
            resources.limits().tick().multipliedBy(4));
    this.atLeastMonitor = new AtLeastMonitor(ticker);
    this.zooKeeperInspector = new ZooKeeperInspector(this, wall);
    this.zooKeeperSurvey = new ZooKeeperSurvey(this, zooKeeperInspector, wall);
    this.ensembles = ServerIdentity.renewedByRestart("ensembles of ZooKeeper", display);
    this.nodeFacts =
        new NodeFacts(resources, options.acl(), nodeLayout.clock(), nodeLayout.facts());
    resources.check(
        adminConnection ->
            adminConnection.prepare(
                nodeLayout.root(),
                TokenEpoch.initialNodes(nodeLayout, options.acl()),
                options.acl(),
                CreateMode.CONTAINER));
    resources.timer().in(EXPIRY_NANOS, this::expire);
  }

  /** Opens the store of a URL. Blocks. */
  static LockStore connect(StoreUrl url, Ticker ticker, InstantSource wall) {
    ZooKeeperTarget zooKeeperTarget = ZooKeeperTarget.parse(url, Set.of("namespace"));
    String namespace = url.parameter("namespace");
    String root = zooKeeperTarget.path().isEmpty() ? DEFAULT.root() : zooKeeperTarget.path();
    if (namespace != null) {
      root += "/" + NodeNames.encode(LockName.of(namespace));
    }
    ZooKeeperOptions options =
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
      Callable<ZooKeeper> clients, ZooKeeperOptions options, Ticker ticker, InstantSource wall) {
    return new ZooKeeperLockStore(
        ZooKeeperConnector.over(clients),
        options,
        "zk:(client handed in)" + options.root(),
        ticker,
        wall);
  }

  // ---- Shared state ----

  ZooKeeperOptions options() {
    return options;
  }

  NodeLayout layout() {
    return nodeLayout;
  }

  StoreResources resources() {
    return resources;
  }

  DelayedTaskScheduler timer() {
    return resources.timer();
  }

  ShutLocks shutLocks() {
    return shutLocks;
  }

  /** As {@link AtLeastMonitor#left}. */
  Duration atLeastLeft(AtLeastMark mark) {
    return atLeastMonitor.left(mark.attempt(), mark.start(), mark.length());
  }

  ZooKeeperInspector inspector() {
    return zooKeeperInspector;
  }

  /**
   * As {@link ServerIdentity#conflict(String, long)}.
   *
   * @param ensemble empty if unknown
   */
  @Nullable String conflict(String ensemble) {
    return ensemble.isEmpty() ? null : ensembles.conflict(ensemble, ticker.nanos());
  }

  void forget(SessionCore session) {
    sessions.remove(session.id(), session);
  }

  private void expire() {
    // First, so that a receiver that throws cannot end the expiry of all requests.
    timer().in(EXPIRY_NANOS, this::expire);
    long now = ticker.nanos();
    long requestTimeout = options.timeout().toNanos();
    sessions.values().forEach(session -> session.expire(now, requestTimeout));
  }

  // ---- The store ----

  @Override
  public StoreProfile profile() {
    return profile;
  }

  @Override
  public void checkTtl(Duration ttl) {
    LockStore.super.checkTtl(ttl);
    resources.limits().check(ttl, profile.display());
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
  public CompletionStage<Page<LockInfo>> inspect(LockQuery query) {
    return query.isSummary() ? zooKeeperSurvey.locks(query) : zooKeeperInspector.inspect(query);
  }

  @Override
  public CompletionStage<Page<SessionInfo>> sessions(@Nullable String cursor, int limit) {
    return zooKeeperSurvey.sessions(cursor, limit);
  }

  @Override
  public CompletionStage<Reply.Ended> evict(LockName name, AttemptId attempt, Eviction how) {
    return attemptEviction.evict(name, attempt, how);
  }

  @Override
  public CompletionStage<Boolean> reopen(LockName name) {
    return shutLocks.reopen(name);
  }

  @Override
  public CompletionStage<Fact> readFact(LockName name) {
    return nodeFacts.read(name);
  }

  @Override
  public CompletionStage<Long> replaceFact(
      LockName name, long version, String content, Duration keep) {
    return nodeFacts.replace(name, version, content, keep);
  }

  @Override
  public CompletionStage<Boolean> claimSweep() {
    return nodeFacts.claimSweep();
  }

  /**
   * Removes expired facts, and opens locks that nobody wants after their at-least times. Dead
   * sessions leave nothing else: their nodes go with them, idle containers later, and notes about
   * evictions with the next eviction.
   */
  @Override
  public CompletionStage<Integer> sweep(int budget) {
    return nodeFacts.sweep(budget).thenCombine(shutLocks.sweep(budget), Integer::sum);
  }

  @Override
  public CompletionStage<StoreReport> examine() {
    return CompletableFuture.completedFuture(resources.limits().report("zk"));
  }

  @Override
  public void close() {
    resources.close(sessions.values(), session -> session.renewal().close());
  }
}
