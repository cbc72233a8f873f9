package io.mortise.testkit.contract.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.DistributedLock;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.UnsupportedByStoreException;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockQuery;
import io.mortise.event.LeaseEnd;
import io.mortise.event.LockListener;
import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.PauseDetector;
import io.mortise.testkit.StoreLink;
import io.mortise.testkit.StoreUnderTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/**
 * The base of the suites of {@link LockClientContract}: a store, processes that use it (clients,
 * each behind a link that can be cut), and assertions.
 */
@Timeout(120)
abstract class ClientSuite {
  static final String LOCK = "invoice/42";

  /** For waits that must not end by themselves in a test. */
  static final Duration LONG = Duration.ofSeconds(20);

  /** For waits that are to end without the lock. */
  static final Duration BRIEF = Duration.ofMillis(150);

  final StoreUnderTest under;
  private final List<Peer> processes = new ArrayList<>();

  /** Created for each run of a test: a rerun after a pause is set up like the first run. */
  private ExecutorService threads = Executors.newCachedThreadPool();

  private @Nullable LockStore opened;

  ClientSuite(StoreUnderTest under) {
    this.under = under;
  }

  /** A process: its link to the store, and its client. */
  record Peer(StoreLink link, LockClient client) {
    DistributedLock lock() {
      return client.lock(LOCK);
    }
  }

  @BeforeEach
  void openStore() {
    processes.clear();
    threads = Executors.newCachedThreadPool();
    opened = under.open();
  }

  @AfterEach
  void closeAll() throws InterruptedException {
    threads.shutdownNow();
    try {
      closeProcesses();
    } finally {
      // Null if its server is missing: then the test was skipped.
      if (opened != null) {
        opened.close();
      }
      under.close();
    }
    assertThat(threads.awaitTermination(10, TimeUnit.SECONDS))
        .as("threads of the test end")
        .isTrue();
  }

  /** Concurrently, as each close waits for requests in flight. */
  private void closeProcesses() {
    ExecutorService closing = Executors.newCachedThreadPool();
    try {
      List<Future<?>> ends = new ArrayList<>();
      processes.forEach(process -> ends.add(closing.submit(process.client()::close)));
      ends.forEach(ClientSuite::get);
    } finally {
      closing.shutdownNow();
    }
  }

  /** Asserts that a lost lease counts as lost even if closed later. */
  static void assertStaysLost(Lease lease, LeaseEnd end) {
    assertThat(lease.state()).isEqualTo(Lease.State.LOST);
    assertThat(lease.isValid()).isFalse();
    assertThatThrownBy(lease::ensureValid)
        .isInstanceOfSatisfying(
            LeaseLostException.class, loss -> assertThat(loss.end()).isEqualTo(end));
    assertThatThrownBy(lease::token)
        .isInstanceOfAny(LeaseLostException.class, UnsupportedByStoreException.class);
    assertThatThrownBy(lease::fencingToken)
        .isInstanceOfAny(LeaseLostException.class, UnsupportedByStoreException.class);
    assertThatCode(lease::close).as("a loss is reported once").doesNotThrowAnyException();
    assertThat(lease.releaseAsync()).succeedsWithin(LONG);
    assertThat(lease.state()).isEqualTo(Lease.State.LOST);
  }

  final LockStore store() {
    if (opened == null) {
      throw new IllegalStateException("The store is not open.");
    }
    return opened;
  }

  final void needs(Capability... capabilities) {
    for (Capability capability : capabilities) {
      Assumptions.assumeTrue(
          under.capabilities().contains(capability), "the store has no " + capability);
    }
  }

  final boolean can(Capability capability) {
    return under.capabilities().contains(capability);
  }

  /** A process whose session outlives any pause of a test. */
  final Peer peer(String name) {
    return peer(name, peerTtl());
  }

  /** Without pushes a process learns of others by renewals; a short TTL keeps the tests fast. */
  final Duration peerTtl() {
    return Duration.ofSeconds(can(Capability.PUSH) ? 30 : 8);
  }

  /** A process whose session ends soon after its link is cut. */
  final Peer mortal(String name) {
    return peer(name, mortalTtl());
  }

  final Duration mortalTtl() {
    Duration least = store().profile().minTtl();
    Duration ttl = PauseDetector.stretched(Duration.ofMillis(1500));
    return ttl.compareTo(least) < 0 ? least : ttl;
  }

  final Peer peer(String name, Duration ttl, LockListener... listeners) {
    StoreLink link = new StoreLink(store());
    var builder = LockClient.builder().store(link).ttl(ttl).name(name);
    List.of(listeners).forEach(builder::listener);
    return adopt(new Peer(link, builder.build()));
  }

  /** Has the process's client closed after the test. */
  final Peer adopt(Peer process) {
    processes.add(process);
    return process;
  }

  final <T> Future<T> start(Callable<T> task) {
    return threads.submit(task);
  }

  /** Acquires in another thread, waiting until granted. */
  final Future<Lease> acquiring(DistributedLock lock) {
    return start(() -> lock.acquireWithin(LONG));
  }

  static <T> T get(Future<T> future) {
    try {
      return future.get(BoundedWait.scaled(LONG).toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw new AssertionError("Not done within " + BoundedWait.scaled(LONG) + ".", e);
    } catch (ExecutionException e) {
      throw new AssertionError("Failed: " + e.getCause(), e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("Interrupted.", e);
    }
  }

  static Throwable failure(Future<?> future) {
    try {
      Object value = future.get(BoundedWait.scaled(LONG).toMillis(), TimeUnit.MILLISECONDS);
      throw new AssertionError("Expected a failure, not " + value + ".");
    } catch (ExecutionException e) {
      return e.getCause() == null ? e : e.getCause();
    } catch (TimeoutException e) {
      throw new AssertionError("Not done within " + BoundedWait.scaled(LONG) + ".", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("Interrupted.", e);
    }
  }

  final List<LockParticipant> holders(String name) {
    return look(name).stream().flatMap(view -> view.holders().stream()).toList();
  }

  final List<LockParticipant> waiters(String name) {
    return look(name).stream().flatMap(view -> view.waiters().stream()).toList();
  }

  private List<LockInfo> look(String name) {
    return BoundedWait.join(store().inspect(LockQuery.of(name))).items();
  }

  /** Waits until so many attempts stand in the store's queue. */
  final void awaitWaiters(String name, int count) {
    BoundedWait.until(LONG, count + " wait for " + name, () -> waiters(name).size() == count);
  }

  /** Asserts that no holders and waiters remain, once requests in flight have arrived. */
  final void assertNothingLeft(String... names) {
    for (String name : names) {
      BoundedWait.until(
          LONG,
          "nothing was left of " + name,
          () -> holders(name).isEmpty() && waiters(name).isEmpty());
    }
  }

  /** Whether a fresh try gets the lock, which is then released. */
  static boolean isFree(DistributedLock lock) {
    return lock.tryAcquire()
        .map(
            lease -> {
              lease.close();
              return true;
            })
        .orElse(false);
  }

  final void awaitFree(DistributedLock lock) {
    BoundedWait.until(LONG, "lock '" + lock.name() + "' was free", () -> isFree(lock));
  }

  /** Whether a thread is parked. */
  static boolean isWaiting(@Nullable Thread thread) {
    return thread != null
        && (thread.getState() == Thread.State.WAITING
            || thread.getState() == Thread.State.TIMED_WAITING);
  }

  static Duration elapsed(long sinceNanos) {
    return Duration.ofNanos(System.nanoTime() - sinceNanos);
  }
}
