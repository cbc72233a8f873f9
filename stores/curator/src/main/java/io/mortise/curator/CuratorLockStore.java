package io.mortise.curator;

import io.mortise.LockName;
import io.mortise.UnsupportedByStoreException;
import io.mortise.admin.Eviction;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.Fact;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.SessionVerdict;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreSession;
import io.mortise.spi.time.Ticker;
import io.mortise.zookeeper.internal.AdminConnection;
import io.mortise.zookeeper.internal.NodeFacts;
import io.mortise.zookeeper.internal.StoreResources;
import io.mortise.zookeeper.internal.ZooKeeperConnector;
import java.time.Duration;
import java.time.InstantSource;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.apache.zookeeper.data.ACL;

/** Locks in Curator's layout, on the paths that Curator uses. */
final class CuratorLockStore implements LockStore {
  /**
   * How long a request can be in flight, or twice the timeout if that is longer. A silent
   * connection is dropped before, and requests sent over it are refused once the session has
   * another.
   */
  private static final Duration MAX_IN_FLIGHT = Duration.ofSeconds(10);

  private final CuratorOptions options;
  private final Recipe recipe;
  private final LockPaths paths;
  private final StoreResources resources;
  private final StoreProfile profile;
  private final CuratorInspector inspector;
  private final NodeFacts facts;
  private final Map<SessionId, CuratorSession> sessions = new ConcurrentHashMap<>();

  /** Checks that the servers can be reached. Blocks. */
  CuratorLockStore(
      ZooKeeperConnector zooKeeperConnector,
      CuratorOptions options,
      String display,
      Ticker ticker,
      InstantSource wall) {
    this.options = options;
    this.recipe =
        options.recipe() == CuratorStore.LockRecipe.MUTEX ? Recipe.MUTEX : Recipe.READ_WRITE;
    this.paths = new LockPaths(options.base());
    this.resources =
        new StoreResources(zooKeeperConnector, display, options.timeout(), options.tick(), ticker);
    this.profile = profile(display);
    this.inspector = new CuratorInspector(resources.adminConnection(), paths, display, wall);
    this.facts = new NodeFacts(resources, options.acl(), paths.clock(), paths.facts());
    resources.check(AdminConnection::awaitConnected);
  }

  private StoreProfile profile(String display) {
    Set<Capability> capabilities =
        EnumSet.of(
            Capability.SESSION,
            Capability.QUEUE,
            Capability.PERMITS,
            Capability.TOKEN,
            Capability.PUSH,
            Capability.FACTS);
    if (recipe == Recipe.READ_WRITE) {
      capabilities.add(Capability.SHARED);
      capabilities.add(Capability.DOWNGRADE);
    }
    Duration tick = resources.limits().tick();
    Duration twice = options.timeout().multipliedBy(2);
    return new StoreProfile(
        display,
        capabilities,
        twice.compareTo(MAX_IN_FLIGHT) > 0 ? twice : MAX_IN_FLIGHT,
        tick.multipliedBy(2),
        // Sessions of few ticks outlive their TTL, and all end at a tick.
        tick.multipliedBy(4));
  }

  StoreResources resources() {
    return resources;
  }

  /** After this long a request without an answer is reported as unanswered. */
  Duration requestTimeout() {
    return options.timeout();
  }

  List<ACL> acl() {
    return options.acl();
  }

  CuratorAttempt attempt(CuratorSession session, Request.Acquire request) {
    String path = paths.of(request.name());
    Mode mode = request.mode();
    return mode.capacity() == Mode.SHARERS
        ? new MutexAttempt(session, request.name(), request.attempt(), recipe, path)
        : new SemaphoreAttempt(session, request.name(), request.attempt(), mode, path);
  }

  /** An attempt whose session another process has, or had. */
  CuratorAttempt foreign(CuratorSession session, LockName name, AttemptId attempt) {
    return new MutexAttempt(session, name, attempt, recipe, paths.of(name)).inDoubt();
  }

  void forget(CuratorSession session) {
    sessions.remove(session.id(), session);
  }

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
    CuratorSession session = new CuratorSession(this, spec, hints);
    sessions.put(spec.id(), session);
    return session;
  }

  /**
   * Knows this process's sessions only. It reports others as ended, though they may live. That
   * verdict is harmless: no answer of this store asks for a proof, and the server itself deletes
   * the nodes of an ended session.
   */
  @Override
  public CompletionStage<SessionVerdict> judge(SessionId id) {
    CuratorSession session = sessions.get(id);
    return CompletableFuture.completedFuture(
        session == null ? new SessionVerdict.SessionEnded() : session.verdict());
  }

  @Override
  public CompletionStage<Page<LockInfo>> inspect(LockQuery query) {
    return CompletableFuture.supplyAsync(() -> inspector.look(query), resources);
  }

  @Override
  public CompletionStage<Reply.Ended> evict(LockName name, AttemptId attempt, Eviction how) {
    return CompletableFuture.failedFuture(
        new UnsupportedByStoreException(
            "In Curator's layout (store="
                + profile.display()
                + ") no holder can be told that its hold was ended. Delete its node by hand if you"
                + " must."));
  }

  @Override
  public CompletionStage<Fact> readFact(LockName name) {
    return facts.read(name);
  }

  @Override
  public CompletionStage<Long> replaceFact(
      LockName name, long version, String content, Duration keep) {
    return facts.replace(name, version, content, keep);
  }

  @Override
  public CompletionStage<Boolean> claimSweep() {
    return facts.claimSweep();
  }

  /**
   * Removes expired facts. Nothing else is left behind: nodes go with their sessions, and the
   * server removes empty containers.
   */
  @Override
  public CompletionStage<Integer> sweep(int budget) {
    return facts.sweep(budget);
  }

  @Override
  public CompletionStage<StoreReport> examine() {
    return CompletableFuture.completedFuture(resources.limits().report("zk+curator"));
  }

  @Override
  public void close() {
    resources.close(sessions.values(), CuratorSession::close);
  }
}
