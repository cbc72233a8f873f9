package io.mortise.field;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.DistributedLock;
import io.mortise.Leadership;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockOptions;
import io.mortise.StoreUnavailableException;
import io.mortise.admin.Eviction;
import io.mortise.admin.StoreInfo.Feature;
import io.mortise.event.LockListener;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.FaultInjectionProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.Lock;

/**
 * The operations of {@link LockClient} that keep state in a client or a store, but for {@code once}
 * and barriers. Two clients of one store repeat them. For one thread.
 */
final class Workload implements AutoCloseable {
  private static final int AT_ONCE = 50;
  private static final int ROUNDS = 10;
  private static final int FEWEST_CYCLES = 3;
  private static final Duration SHORT = Duration.ofMillis(2);
  private static final LockOptions STICKY = LockOptions.DEFAULTS.withSticky(Duration.ofMillis(1));
  private static final LockOptions FAIR = LockOptions.DEFAULTS.withFair(true);

  private final LockClient client;
  private final LockClient other;
  private final FaultInjectionProxy relay;
  private final String url;
  final int mostNames;

  /** Held throughout. */
  private final Lease kept;

  private int taken;
  private int closed;

  /**
   * Opens two clients.
   *
   * @param url through the relay
   * @param mostNames the number of names, after which names are reused
   */
  Workload(String url, FaultInjectionProxy relay, int mostNames) throws InterruptedException {
    this.url = url;
    this.relay = relay;
    this.mostNames = mostNames;
    client =
        LockClient.builder()
            .url(url)
            .ttl(Trial.LONG)
            .listener(
                new LockListener() {
                  @Override
                  public void onAcquireEnded(AcquireEnded event) {}

                  @Override
                  public void onLeaseEnded(LeaseEnded event) {}
                })
            .build();
    other = Trial.client(url);
    kept = client.lock("kept").acquireWithin(Trial.LONG);
  }

  /** Names that were used once and are idle now. */
  int idleNames() {
    return Math.min(taken, mostNames);
  }

  /** Clients that were opened and closed. */
  int closedClients() {
    return closed;
  }

  /** Acquires and releases locks of so many names. */
  void take(int names) {
    for (int i = 0; i < names; i += AT_ONCE) {
      List<CompletableFuture<Lease>> acquires = new ArrayList<>();
      for (int j = 0; j < AT_ONCE; j++) {
        acquires.add(client.lock("once/" + taken++ % mostNames).acquireAsync(Trial.LONG));
      }
      List<CompletableFuture<Void>> releases = new ArrayList<>();
      for (CompletableFuture<Lease> acquire : acquires) {
        Lease lease = BoundedWait.join(acquire);
        lease.onLost(loss -> {});
        releases.add(lease.releaseAsync());
      }
      releases.forEach(BoundedWait::join);
    }
  }

  /** Runs rounds and disturbances for this time, but a few at least. */
  void run(Duration time) throws Exception {
    long end = System.nanoTime() + time.toNanos();
    for (int cycle = 0; cycle < FEWEST_CYCLES || System.nanoTime() < end; cycle++) {
      for (int i = 0; i < ROUNDS; i++) {
        take(AT_ONCE);
        contend();
        share();
        hold();
      }
      lead();
      evict();
      comeAndGo();
      reconnect();
    }
  }

  /** Tries, waits and cancelled waits for a held lock; one wait is granted. */
  private void contend() throws InterruptedException {
    DistributedLock busy = client.lock("busy");
    Lease held = other.lock("busy").acquireWithin(Trial.LONG);
    assertThat(busy.tryAcquire()).isEmpty();
    assertThat(busy.tryAcquire(SHORT)).isEmpty();
    busy.acquireAsync().cancel(true);
    assertThat(busy.acquireAsync(SHORT)).failsWithin(BoundedWait.ANSWER);
    Thread.currentThread().interrupt();
    assertThatThrownBy(busy::acquire).isInstanceOf(InterruptedException.class);
    CompletableFuture<Void> waiting = busy.acquireAsync().thenCompose(Lease::releaseAsync);
    CompletableFuture<Void> fair =
        has(Feature.QUEUE)
            ? busy.with(FAIR).acquireAsync().thenCompose(Lease::releaseAsync)
            : CompletableFuture.completedFuture(null);
    held.close();
    BoundedWait.join(waiting);
    BoundedWait.join(fair);
  }

  private void share() throws InterruptedException {
    if (has(Feature.SHARED)) {
      try (Lease one = client.readWriteLock("shared").readLock().acquireWithin(Trial.LONG);
          Lease two = other.readWriteLock("shared").readLock().acquireWithin(Trial.LONG)) {
        assertThat(one.isValid() && two.isValid()).isTrue();
      }
    }
    if (has(Feature.PERMITS)) {
      try (Lease one = client.semaphore("permits", 3).permits(2).acquireWithin(Trial.LONG)) {
        assertThat(other.semaphore("permits", 3).permits(2).tryAcquire()).isEmpty();
        assertThat(one.isValid()).isTrue();
      }
    }
  }

  /** Uses the other forms of a hold. */
  private void hold() throws InterruptedException {
    kept.run(() -> {});
    client.allOf("a", "b").acquireWithin(Trial.LONG).close();
    Lock reentrant = client.lock("java").asJavaLock();
    for (int i = 0; i < 2; i++) {
      reentrant.lock();
    }
    for (int i = 0; i < 2; i++) {
      reentrant.unlock();
    }
    if (has(Feature.STICKY)) {
      client.lock("sticky", STICKY).acquireWithin(Trial.LONG).close();
    }
  }

  private void lead() throws InterruptedException {
    CountDownLatch leads = new CountDownLatch(1);
    try (Leadership leadership = client.leader("leader", term -> leads.countDown())) {
      leadership.onChange(change -> {});
      leads.await();
    }
  }

  private void evict() throws InterruptedException {
    if (!has(Feature.EVICTION)) {
      return;
    }
    for (Eviction how : Eviction.values()) {
      Lease lease = client.lock("evicted").acquireWithin(Trial.LONG);
      lease.onLost(loss -> {});
      String attempt = other.admin().find("evicted").orElseThrow().holders().get(0).attempt();
      other.admin().evict("evicted", attempt, how);
      try {
        lease.close();
      } catch (LeaseLostException e) {
        // It has already learned of the eviction.
      }
    }
  }

  /** A client is closed while it holds one lock and waits for another. */
  private void comeAndGo() throws InterruptedException {
    try (LockClient guest = Trial.client(url)) {
      Lease unused = guest.lock("guest").acquireWithin(Trial.LONG);
      assertThat(guest.lock("kept").acquireAsync()).isNotDone();
    }
    closed++;
  }

  /** All connections break during a wait, and are reopened. */
  private void reconnect() throws InterruptedException {
    Lease held = other.lock("broken").acquireWithin(Trial.LONG);
    CompletableFuture<Lease> waiting = client.lock("broken").acquireAsync();
    relay.reset();
    for (LockClient each : List.of(client, other)) {
      BoundedWait.until(
          Trial.LONG,
          "the client is connected again",
          () -> Trial.isGranted(each, "connected") && isAnswered(each));
    }
    held.close();
    BoundedWait.join(waiting).close();
    assertThat(kept.state()).isNotEqualTo(Lease.State.LOST);
  }

  /** Whether an inspection is answered too: on Redis it uses another connection than an acquire. */
  private static boolean isAnswered(LockClient client) {
    try {
      client.admin().find("connected");
      return true;
    } catch (StoreUnavailableException e) {
      return false;
    }
  }

  private boolean has(Feature feature) {
    return client.admin().store().has(feature);
  }

  @Override
  public String toString() {
    return "%d acquires of names used once, %d clients that came and went".formatted(taken, closed);
  }

  @Override
  public void close() {
    kept.close();
    client.close();
    other.close();
  }
}
