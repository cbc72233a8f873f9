package io.mortise.internal.client;

import io.mortise.DistributedLock;
import io.mortise.DistributedOnce;
import io.mortise.DistributedReadWriteLock;
import io.mortise.DistributedSemaphore;
import io.mortise.LeaderOptions;
import io.mortise.Leadership;
import io.mortise.LockClient;
import io.mortise.LockClientBuilder;
import io.mortise.LockGroup;
import io.mortise.LockName;
import io.mortise.LockOptions;
import io.mortise.admin.LocalWait;
import io.mortise.admin.LocalWaits;
import io.mortise.admin.LockAdmin;
import io.mortise.event.LockListener;
import io.mortise.function.CheckedConsumer;
import io.mortise.internal.engine.Engine;
import io.mortise.internal.engine.EngineEvents;
import io.mortise.internal.engine.state.LeaseLeakDetector;
import io.mortise.internal.recipe.ClientRecipes;
import io.mortise.internal.recipe.RecipeProvider;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.runtime.IdleLimit;
import io.mortise.recipe.DistributedBarrier;
import io.mortise.recipe.DistributedLatch;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.PartitionedStore;
import io.mortise.spi.StoreReport;
import io.mortise.spi.time.DurationText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The client that users get: it takes names and calls the engine. A store of several parts has an
 * engine for each, on the same threads, opened when a lock of that part is first used.
 */
public final class EngineClient implements LockClient {
  private static final Logger log = LoggerFactory.getLogger(EngineClient.class);

  /** The most locks named in a line of the log. */
  private static final int NAMED = 5;

  private static final int LOCAL_WAITS = 1000;

  /** The interval between two checks of a condition that is waited for. */
  private static final long LOOK_NANOS = 200_000;

  private final LockStore store;
  private final EngineEnv env;
  private final AtomicReferenceArray<@Nullable Engine> engines;
  private final LeaseLeakDetector leaks = new LeaseLeakDetector();
  private final SweepScheduler sweepScheduler;
  private final EngineEvents events;
  private final IdleLimit idleLimit;
  private final Runnable afterClose;

  /** Held while an engine or the recipes are created, and while the client begins to close. */
  private final ReentrantLock guard = new ReentrantLock();

  private final Set<LeaderCandidate> candidates = ConcurrentHashMap.newKeySet();

  /** Null until a recipe is first asked for. */
  private volatile @Nullable ClientRecipes recipes;

  private volatile boolean closed;

  /**
   * A client over a store.
   *
   * @param afterClose ends the resources of this client alone
   */
  public EngineClient(LockStore store, EngineEnv env, Runnable afterClose) {
    this(store, env, List.of(), afterClose);
  }

  /**
   * A client over a store.
   *
   * @param listeners receive the events of its locks
   * @param afterClose ends the resources of this client alone
   */
  public EngineClient(
      LockStore store, EngineEnv env, List<LockListener> listeners, Runnable afterClose) {
    this(store, env, listeners, LockClientBuilder.DEFAULT_MAX_IDLE_LOCKS, afterClose);
  }

  /**
   * A client over a store.
   *
   * @param listeners receive the events of its locks
   * @param maxIdleLocks how many sticky locks may be idle
   * @param afterClose ends the resources of this client alone
   */
  public EngineClient(
      LockStore store,
      EngineEnv env,
      List<LockListener> listeners,
      int maxIdleLocks,
      Runnable afterClose) {
    store.checkTtl(env.ttl());
    this.store = store;
    this.env = env;
    this.engines =
        new AtomicReferenceArray<>(
            store instanceof PartitionedStore parts ? parts.partitions() : 1);
    this.idleLimit = new IdleLimit(maxIdleLocks);
    this.events = new EngineEvents(env, engines.length(), listeners);
    this.sweepScheduler = new SweepScheduler(engines.length(), this::part, env);
    this.afterClose = afterClose;
  }

  /**
   * Logs once, as soon as the store has reported its settings, the facts on which this client
   * relies. Queries nothing if the log level is off.
   */
  void tellStart(String namespace) {
    if (log.isInfoEnabled()) {
      var unused =
          CompletionStages.start(store::examine)
              .whenComplete((report, failure) -> log.info(startText(namespace, report)));
    }
  }

  private String startText(String namespace, @Nullable StoreReport report) {
    List<String> facts = new ArrayList<>();
    if (!namespace.isEmpty()) {
      facts.add("namespace=" + namespace);
    }
    if (report != null) {
      report.findings().stream()
          .filter(finding -> finding.id().endsWith("version"))
          .findFirst()
          .ifPresent(finding -> facts.add("server version=" + finding.value()));
      if (!report.mode().isEmpty()) {
        facts.add("guarantees=" + report.mode());
      }
    }
    facts.add("ttl=" + DurationText.format(env.ttl()));
    facts.add("client=" + env.client());
    return "Locks are kept in %s (%s)."
        .formatted(store.profile().display(), String.join(", ", facts));
  }

  /** The engine of a store without parts, for the simulation. */
  public Engine engine() {
    return engine(0);
  }

  Engine engine(LockName name) {
    return engine(store instanceof PartitionedStore parts ? parts.partitionOf(name) : 0);
  }

  private Engine engine(int part) {
    Engine present = engines.get(part);
    return present != null ? present : opened(part);
  }

  private Engine opened(int part) {
    guard.lock();
    try {
      Engine engine = engines.get(part);
      if (engine == null) {
        refuseIfClosed();
        engine = new Engine(part(part), env, engines.length(), events, idleLimit);
        engines.set(part, engine);
        sweepScheduler.start();
      }
      return engine;
    } finally {
      guard.unlock();
    }
  }

  private LockStore part(int number) {
    return store instanceof PartitionedStore parts ? parts.partition(number) : store;
  }

  private void refuseIfClosed() {
    if (closed) {
      throw new IllegalStateException("This lock client is closed.");
    }
  }

  LeaseLeakDetector leaks() {
    return leaks;
  }

  long now() {
    return env.now();
  }

  String display() {
    return store.profile().display();
  }

  @Override
  public DistributedLock lock(String name) {
    return lock(LockName.of(name), Mode.EXCLUSIVE);
  }

  private EngineLock lock(LockName name, Mode mode) {
    refuseIfClosed();
    return new EngineLock(this, name, mode, LockOptions.DEFAULTS);
  }

  @Override
  public DistributedReadWriteLock readWriteLock(String name) {
    EngineLock read = lock(LockName.of(name), Mode.SHARED);
    EngineLock write = lock(LockName.of(name), Mode.EXCLUSIVE);
    return new DistributedReadWriteLock() {
      @Override
      public DistributedLock readLock() {
        return read;
      }

      @Override
      public DistributedLock writeLock() {
        return write;
      }

      @Override
      public ReadWriteLock asJavaReadWriteLock() {
        return new ThreadOwnedReadWriteLock(read, write);
      }

      @Override
      public String toString() {
        return "DistributedReadWriteLock[%s, %s]".formatted(name, store.profile().display());
      }
    };
  }

  @Override
  public DistributedSemaphore semaphore(String name, int permits) {
    LockName checked = LockName.of(name);
    Mode one = Mode.permits(1, permits);
    return new DistributedSemaphore() {
      @Override
      public String name() {
        return name;
      }

      @Override
      public int permits() {
        return one.capacity();
      }

      @Override
      public DistributedLock permits(int count) {
        return lock(checked, Mode.permits(count, one.capacity()));
      }

      @Override
      public String toString() {
        return "DistributedSemaphore[%s, %s permits, %s]"
            .formatted(name, permits, store.profile().display());
      }
    };
  }

  @Override
  public LockGroup allOf(String... names) {
    Objects.requireNonNull(names, "names");
    List<LockName> sorted = Arrays.stream(names).map(LockName::of).distinct().sorted().toList();
    if (sorted.isEmpty() || sorted.size() < names.length) {
      throw new IllegalArgumentException(
          "A group takes one or more locks, each once, not " + Arrays.toString(names) + ".");
    }
    return new EngineLockGroup(
        this, sorted.stream().map(name -> lock(name, Mode.EXCLUSIVE)).toList());
  }

  private ClientRecipes recipes() {
    ClientRecipes present = recipes;
    return present != null ? present : openedRecipes();
  }

  private ClientRecipes openedRecipes() {
    guard.lock();
    try {
      ClientRecipes opened = recipes;
      if (opened == null) {
        refuseIfClosed();
        opened = RecipeProvider.find().open(store, env, this::refuseIfClosed, this::lock);
        recipes = opened;
      }
      return opened;
    } finally {
      guard.unlock();
    }
  }

  @Override
  public DistributedOnce once(String key) {
    return recipes().once(key);
  }

  @Override
  public DistributedLatch latch(String name, int parties) {
    return recipes().latch(name, parties);
  }

  @Override
  public DistributedBarrier barrier(String name, int parties) {
    return recipes().barrier(name, parties);
  }

  @Override
  public Leadership leader(
      String name,
      LeaderOptions options,
      CheckedConsumer<? super Leadership.Term, ? extends Exception> task) {
    Objects.requireNonNull(options, "options");
    Objects.requireNonNull(task, "task");
    LockOptions inOrder = LockOptions.DEFAULTS.withFair(hasQueue()).withLabel(options.label());
    DistributedLock lock = lock(name).with(inOrder);
    LeaderCandidate candidate = new LeaderCandidate(this, lock, options, task);
    candidates.add(candidate);
    candidate.stand();
    return candidate;
  }

  /** A candidate has ended. */
  void forget(LeaderCandidate candidate) {
    candidates.remove(candidate);
  }

  EngineEnv env() {
    return env;
  }

  boolean isClosed() {
    return closed;
  }

  /** Whether the store hands over to the longest waiter. */
  boolean hasQueue() {
    return store.profile().can(Capability.QUEUE);
  }

  @Override
  public LockAdmin admin() {
    return new EngineAdmin(
        store,
        this::refuseIfClosed,
        new EngineAdmin.OwnLocks() {
          @Override
          public @Nullable Duration idleLeft(LockName name, AttemptId attempt) {
            return EngineClient.this.idleLeft(name, attempt);
          }

          @Override
          public LocalWaits waits() {
            return localWaits();
          }
        });
  }

  /** The waits of this client's callers, at most the first thousand. */
  LocalWaits localWaits() {
    List<LocalWait> waits = new ArrayList<>();
    for (int part = 0; part < engines.length(); part++) {
      Engine engine = engines.get(part);
      if (engine != null) {
        engine.addLocalWaits(waits, LOCAL_WAITS);
      }
    }
    return new LocalWaits(waits);
  }

  private @Nullable Duration idleLeft(LockName name, AttemptId attempt) {
    Engine engine =
        engines.get(store instanceof PartitionedStore parts ? parts.partitionOf(name) : 0);
    return engine == null ? null : engine.idleLeft(name, attempt);
  }

  @Override
  public void close() {
    List<Engine> opened = new ArrayList<>();
    guard.lock();
    try {
      if (closed) {
        return;
      }
      closed = true;
      for (int i = 0; i < engines.length(); i++) {
        Engine engine = engines.get(i);
        if (engine != null) {
          opened.add(engine);
        }
      }
    } finally {
      guard.unlock();
    }
    long patience =
        Math.min(
            TimeUnit.SECONDS.toNanos(5), store.profile().maxInFlight().plusSeconds(1).toNanos());
    close(opened, patience);
    afterClose.run();
  }

  private void tellLeftOpen(List<String> names) {
    if (!names.isEmpty()) {
      String more = names.size() > NAMED ? " and " + (names.size() - NAMED) + " more" : "";
      log.warn(
          "Closed {} with leases open: {} (on locks '{}'{}). They are lost, and their locks are"
              + " free again. Close leases before their client.",
          this,
          names.size(),
          String.join("', '", names.subList(0, Math.min(NAMED, names.size()))),
          more);
    }
  }

  /** Releases all, then waits for the store's answers, then ends the sessions. */
  private void close(List<Engine> opened, long patience) {
    sweepScheduler.stop();
    ClientRecipes used = recipes;
    if (used != null) {
      used.close();
    }
    // An interrupted thread closes too: its flag would end each of the waits at once.
    boolean interrupted = Thread.interrupted();
    candidates.forEach(LeaderCandidate::stop);
    interrupted |= waitWhile(this::areLeadersStopping, now() + patience, patience);
    tellLeftOpen(opened.stream().flatMap(engine -> engine.abandonAll().stream()).sorted().toList());
    long deadline = now() + patience;
    interrupted |= waitWhile(() -> opened.stream().anyMatch(Engine::isEnding), deadline, patience);
    CompletableFuture<?>[] ends =
        opened.stream()
            .map(engine -> CompletionStages.start(engine::endSession).toCompletableFuture())
            .toArray(CompletableFuture<?>[]::new);
    CompletableFuture<Void> end = CompletableFuture.allOf(ends);
    boolean waits = true;
    while (waits) {
      waits = false;
      try {
        end.get(Math.max(1, deadline - now()), TimeUnit.NANOSECONDS);
      } catch (InterruptedException e) {
        interrupted = true;
        waits = true;
      } catch (ExecutionException | TimeoutException e) {
        log.debug("A session could not be closed in store {}; it ends by itself.", this, e);
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean areLeadersStopping() {
    return candidates.stream().anyMatch(LeaderCandidate::isHeldForAnotherThread);
  }

  /**
   * Returns whether the thread was interrupted meanwhile. The number of checks bounds the wait in
   * tests that move the time by hand.
   */
  private boolean waitWhile(BooleanSupplier condition, long deadline, long patience) {
    boolean interrupted = false;
    long looks = patience / LOOK_NANOS;
    for (long i = 0; i < looks && condition.getAsBoolean() && deadline - now() > 0; i++) {
      LockSupport.parkNanos(LOOK_NANOS);
      interrupted |= Thread.interrupted();
    }
    return interrupted;
  }

  @Override
  public String toString() {
    return "LockClient[" + store.profile().display() + "]";
  }
}
