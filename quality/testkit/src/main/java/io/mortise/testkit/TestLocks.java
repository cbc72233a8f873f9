package io.mortise.testkit;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockClientBuilder;
import io.mortise.admin.Eviction;
import io.mortise.admin.LockParticipant;
import io.mortise.internal.client.EngineClient;
import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.runtime.EngineRules;
import io.mortise.spi.Capability;
import io.mortise.spi.ClientLabel;
import io.mortise.support.memory.MemStore;
import io.mortise.support.table.TableRules;
import io.mortise.testkit.StoreLink.LinkState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Locks for tests of code that uses locks: a store in memory, clients that stand for processes, and
 * time that moves only by {@link #advance}. Rare events of production happen on demand: {@link
 * #loseHolds}, {@link #stopStore}, {@link #holdElsewhere}, {@link #kill}.
 *
 * <p>Renewals, timeouts, at-most and at-least times, TTLs and pauses of leaders follow the time of
 * the test. Timers run on the thread that moves it; listeners, futures and tasks of leaders run on
 * other threads. {@link #advance} waits until they are idle, but not for tasks of leaders.
 *
 * <p>Thread-safe. {@link TestLocksExtension} makes one for each test.
 */
public final class TestLocks implements AutoCloseable {
  /** A blocking listener delays a test by this, each time that the test moves the time. */
  private static final long IDLE_LOOKS = 2_000;

  private static final long LOOK_NANOS = 500_000;

  /** Some day in 2023, in µs. */
  private static final long START_MICROS = 1_700_000_000_000_000L;

  /** More threads than a test has. */
  private static final int MOST_THREADS = 1_000;

  private static final String WAITER = "io.mortise.internal.engine.state.Waiter";

  private final ManualTime time = new ManualTime();
  private final ManualScheduler timers = new ManualScheduler(time, this::callBack);
  private final MemStore store =
      new MemStore(EnumSet.allOf(Capability.class), time, START_MICROS, TableRules.ALL);
  private final Duration ttl;
  private final AtomicInteger running = new AtomicInteger();
  private final AtomicLong seeds = new AtomicLong();
  private final ExecutorService callbacks =
      Executors.newCachedThreadPool(
          task -> {
            Thread thread = new Thread(task, "test-locks-callback");
            thread.setDaemon(true);
            return thread;
          });

  private final ReentrantLock guard = new ReentrantLock();

  // Guarded by the guard.
  private final Map<LockClient, StoreLink> processes = new HashMap<>();
  private final List<LockClient> killed = new ArrayList<>();
  private final LockClient elsewhere;
  private boolean stopped;

  /** Clients with sessions of the default TTL, {@link LockClientBuilder#DEFAULT_TTL}. */
  public TestLocks() {
    this(LockClientBuilder.DEFAULT_TTL);
  }

  /**
   * Clients with sessions of this TTL.
   *
   * @throws IllegalArgumentException if it is not positive
   */
  public TestLocks(Duration ttl) {
    if (ttl.isZero() || ttl.isNegative()) {
      throw new IllegalArgumentException("A TTL of " + ttl + " is not positive.");
    }
    this.ttl = ttl;
    this.elsewhere = client("elsewhere");
  }

  /**
   * Returns a client of a new process, for the code under test or for another process beside it.
   * {@link #close()} closes it too.
   *
   * @param name the name that {@link LockClient#admin} shows
   */
  public LockClient client(String name) {
    StoreLink link = new StoreLink(store);
    EngineEnv env =
        new EngineEnv(
            time,
            timers,
            timers,
            this::callBack,
            () -> 0,
            new Random(seeds.incrementAndGet()),
            EngineRules.ALL,
            ttl,
            new ClientLabel("test", seeds.get(), name));
    LockClient client = new EngineClient(link, env, () -> {});
    guard.lock();
    try {
      processes.put(client, link);
      if (stopped) {
        link.set(LinkState.REFUSING);
      }
    } finally {
      guard.unlock();
    }
    return client;
  }

  private void callBack(Runnable task) {
    running.incrementAndGet();
    callbacks.execute(
        () -> {
          try {
            task.run();
          } finally {
            running.decrementAndGet();
          }
        });
  }

  /**
   * Moves the time and runs all due events, in order. Blocks until their listeners and futures are
   * done, for a second of real time at most for each.
   *
   * @throws IllegalArgumentException if the time is negative
   */
  public void advance(Duration duration) {
    if (duration.isNegative()) {
      throw new IllegalArgumentException("Time cannot go back by " + duration + ".");
    }
    long until = time.nanos() + duration.toNanos();
    settle();
    while (timers.runNext(until)) {
      settle();
    }
    settle();
  }

  /**
   * Lets threads in timed waits check the time again, and callbacks end. Virtual threads are in no
   * group and cannot be woken.
   */
  private void settle() {
    Thread[] threads = new Thread[MOST_THREADS];
    int count = rootGroup().enumerate(threads);
    for (int i = 0; i < count; i++) {
      Object blocker = LockSupport.getBlocker(threads[i]);
      if (blocker != null && blocker.getClass().getName().equals(WAITER)) {
        LockSupport.unpark(threads[i]);
      }
    }
    for (long i = 0; i < IDLE_LOOKS && running.get() > 0; i++) {
      LockSupport.parkNanos(LOOK_NANOS);
    }
  }

  private static ThreadGroup rootGroup() {
    ThreadGroup group = Thread.currentThread().getThreadGroup();
    while (group.getParent() != null) {
      group = group.getParent();
    }
    return group;
  }

  /**
   * Ends all present holds of a lock at once, as an operator's break does. When this returns, their
   * leases are lost and their listeners have been called. The lock is free, or belongs to the next
   * waiter. A client that cannot reach the store, since the store was stopped or the client killed,
   * keeps its lease until its TTL has passed, or until it has renewed after {@link #startStore()}.
   *
   * @return the number of lost holds
   */
  public int loseHolds(String lock) {
    List<LockParticipant> holders =
        elsewhere.admin().find(lock).map(info -> info.holders()).orElse(List.of());
    for (LockParticipant holder : holders) {
      var unused = elsewhere.admin().evict(lock, holder.attempt(), Eviction.BREAK);
    }
    settle();
    return holders.size();
  }

  /**
   * Acquires the lock for another process, which keeps it until the test closes the lease.
   *
   * @throws IllegalStateException if it is held or waited for
   */
  public Lease holdElsewhere(String lock) {
    return elsewhere
        .lock(lock)
        .tryAcquire()
        .orElseThrow(
            () -> new IllegalStateException("Lock '" + lock + "' is held or waited for already."));
  }

  /**
   * Stops the store: requests fail at once, including renewals. Locks stay as they are; when a TTL
   * has passed, leases are lost.
   */
  public void stopStore() {
    guard.lock();
    try {
      stopped = true;
      processes.forEach(
          (client, link) -> {
            if (client != elsewhere) {
              link.set(LinkState.REFUSING);
            }
          });
    } finally {
      guard.unlock();
    }
  }

  /** Starts the store again. Clients notice at their next try: move the time. */
  public void startStore() {
    guard.lock();
    try {
      stopped = false;
      processes.forEach(
          (client, link) -> {
            if (!killed.contains(client)) {
              link.set(LinkState.UP);
            }
          });
    } finally {
      guard.unlock();
    }
  }

  /**
   * Kills the process of this client, as seen by others: no request of it reaches the store any
   * more. When its TTL is over, its locks are free and its places in queues are skipped. Code that
   * uses this client runs on, and learns of the loss like a process that was cut off.
   *
   * @throws IllegalArgumentException if the client is not one of this object
   */
  public void kill(LockClient client) {
    guard.lock();
    try {
      StoreLink link = processes.get(client);
      if (link == null) {
        throw new IllegalArgumentException(client + " is not of these test locks.");
      }
      killed.add(client);
      link.set(LinkState.REFUSING);
    } finally {
      guard.unlock();
    }
  }

  /**
   * The number of attempts that wait for a lock in the store. Threads of one client may share one.
   */
  public int waiters(String lock) {
    settle();
    return elsewhere.admin().find(lock).map(info -> info.waiters().size()).orElse(0);
  }

  /** The time of the test, which began at zero. */
  public Duration elapsed() {
    return Duration.ofNanos(time.nanos());
  }

  /** Closes all clients. Their leases are lost. Blocks for seconds at most. */
  @Override
  public void close() {
    startStore();
    List<LockClient> all;
    guard.lock();
    try {
      all = List.copyOf(processes.keySet());
    } finally {
      guard.unlock();
    }
    all.forEach(LockClient::close);
    callbacks.shutdown();
  }

  @Override
  public String toString() {
    return "TestLocks[" + elapsed() + "]";
  }
}
