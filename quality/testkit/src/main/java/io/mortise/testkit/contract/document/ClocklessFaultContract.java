package io.mortise.testkit.contract.document;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.DistributedLock;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockName;
import io.mortise.LockOptions;
import io.mortise.StoreUnavailableException;
import io.mortise.annotation.Beta;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.StoreUrl;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testkit.SessionDriver;
import io.mortise.testkit.server.LocalServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * Faults that a store of clockless documents must survive: a real server is killed and paused, and
 * many clients die. For an adapter whose URL has the parameters {@code namespace} and {@code
 * timeout}. Each test has its own namespace.
 *
 * @param <S> the server
 */
@Beta
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class ClocklessFaultContract<S extends LocalServer> {
  private static final AtomicInteger NAMESPACES = new AtomicInteger();

  private static final Duration LONG = Duration.ofSeconds(60);
  private static final int CLIENTS = 20;
  private static final int WAITERS = 5 * CLIENTS;

  /** The bound of the crowd test; it takes some seconds on an idle machine. */
  private static final Duration CROWD = Duration.ofMinutes(3);

  private static final LockName LOCK = LockName.of("lock");

  private @Nullable S server;
  private String namespace = "";
  private String parameters = "";

  /** For subclasses. */
  protected ClocklessFaultContract() {}

  /** Starts a server for the tests of the class, which is closed after them. */
  protected abstract S start();

  @BeforeAll
  final void startServer() {
    server = start();
  }

  @AfterAll
  final void closeServer() {
    if (server != null) {
      server.close();
    }
  }

  @BeforeEach
  final void takeNamespace() {
    namespace = "fault" + NAMESPACES.incrementAndGet();
    parameters = "?timeout=2s&namespace=" + namespace;
  }

  /** The server of all tests of the class. */
  protected final S server() {
    return Objects.requireNonNull(server);
  }

  /** The namespace of the test. */
  protected final String namespace() {
    return namespace;
  }

  /** A client of the test's namespace, whose requests are given up after two seconds. */
  protected final LockClient client(Duration ttl) {
    return client(server().url(), ttl);
  }

  /**
   * As above, through the given URL.
   *
   * @param url without parameters
   */
  protected final LockClient client(String url, Duration ttl) {
    return LockClient.builder().url(url + parameters).ttl(ttl).build();
  }

  private LockStore store(String url) {
    return LockStore.connect(StoreUrl.parse(url));
  }

  private static void awaitWaiter(LockClient client) {
    BoundedWait.until(LONG, "one waits", () -> waiters(client, "x") == 1);
  }

  @Test
  @RerunIfPaused
  void givenHolderAndWaiter_whenTheServerIsKilled_thenTheHolderKeepsTheLock_andTheWaiterItsPlace()
      throws Exception {
    try (LockClient holder = client(Duration.ofSeconds(20));
        LockClient other = client(Duration.ofSeconds(20))) {
      Lease lease = holder.lock("x").acquireWithin(LONG);
      CompletableFuture<Lease> waiting = other.lock("x").acquireAsync();
      awaitWaiter(holder);
      server().kill();
      server().restart();
      awaitWaiter(holder);
      lease.ensureValid();
      assertThat(waiting).isNotDone();
      lease.close();
      try (Lease next = waiting.get(60, TimeUnit.SECONDS)) {
        assertThat(next.token()).isGreaterThan(lease.token());
      }
    }
  }

  @Test
  @RerunIfPaused
  void givenServerThatStandsStill_thenTheHolderLosesItsLease_andAsksAreNoContention()
      throws Exception {
    try (LockClient holder = client(Duration.ofSeconds(3));
        LockClient other = client(Duration.ofSeconds(3))) {
      other.lock("warm").acquireWithin(LONG).close();
      Lease lease = holder.lock("x").acquireWithin(LONG);
      long token = lease.token();
      server().pause();
      try {
        assertThatThrownBy(() -> other.lock("x").tryAcquire())
            .isInstanceOf(StoreUnavailableException.class);
        BoundedWait.until(LONG, "the lease is lost", () -> !lease.isValid());
      } finally {
        server().resume();
      }
      try (Lease next = other.lock("x").acquireWithin(LONG)) {
        assertThat(next.token()).isGreaterThan(token);
        assertThat(lease.isValid()).isFalse();
        assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
      }
    }
  }

  @Test
  @RerunIfPaused
  void givenHolderThatDied_thenItsLockIsFreeAfterATtl_notSooner_andAfterTwoAtTheLatest()
      throws Exception {
    Duration ttl = Duration.ofSeconds(2);
    try (LockStore crashed = store(server().url() + parameters);
        LockClient other = client(ttl)) {
      SessionDriver dead = SessionDriver.open(crashed, ttl, "dead");
      dead.hold(LOCK, Mode.EXCLUSIVE);
      long began = System.nanoTime();
      try (Lease lease = other.lock("lock").acquireWithin(LONG)) {
        lease.ensureValid();
        assertThat(Duration.ofNanos(System.nanoTime() - began))
            .isBetween(ttl, ttl.multipliedBy(2).plusSeconds(2));
      }
    }
  }

  /** Each grant writes the one record that all waiters read. */
  @Test
  @Tag("extended")
  void given100FairWaitersOf20Clients_thenNoneIsServedTwiceBeforeAnotherOnce_andTokensRise()
      throws Exception {
    // Twenty clients open one after the other on a server that has just started.
    parameters = parameters.replace("timeout=2s", "timeout=5s");
    List<LockClient> clients = new ArrayList<>();
    try (LockClient keeper = client(LONG)) {
      for (int i = 0; i < CLIENTS; i++) {
        clients.add(client(LONG));
      }
      Queue<Integer> served = new ConcurrentLinkedQueue<>();
      Queue<Long> tokens = new ConcurrentLinkedQueue<>();
      List<CompletableFuture<Void>> waiters = new ArrayList<>();
      try (Lease first = fair(keeper).acquireWithin(LONG)) {
        for (int i = 0; i < WAITERS; i++) {
          int waiter = i;
          LockClient client = clients.get(i % CLIENTS);
          Function<Lease, CompletableFuture<Void>> use =
              lease -> {
                served.add(waiter);
                tokens.add(lease.token());
                return CompletableFuture.runAsync(lease::close);
              };
          waiters.add(
              fair(client)
                  .acquireAsync()
                  .thenCompose(use)
                  .thenCompose(once -> fair(client).acquireAsync())
                  .thenCompose(use));
        }
        BoundedWait.until(LONG, "all wait", () -> waiters(keeper, "crowd") == WAITERS);
        first.ensureValid();
      }
      BoundedWait.until(
          CROWD, "all were served", () -> waiters.stream().allMatch(CompletableFuture::isDone));
      waiters.forEach(BoundedWait::join);
      assertThat(served).hasSize(2 * WAITERS);
      assertThat(List.copyOf(served).subList(0, WAITERS)).doesNotHaveDuplicates();
      assertThat(List.copyOf(tokens)).isSorted().doesNotHaveDuplicates();
    } finally {
      clients.forEach(LockClient::close);
    }
  }

  /** 0 while the server does not answer in time. */
  private static int waiters(LockClient client, String lock) {
    try {
      return client.admin().find(lock).orElseThrow().waiters().size();
    } catch (StoreUnavailableException e) {
      return 0;
    }
  }

  private static DistributedLock fair(LockClient client) {
    return client.lock("crowd").with(LockOptions.DEFAULTS.withFair(true));
  }

  @Test
  void givenNobodyThatListens_thenOpeningSaysSo() {
    server().kill();
    try {
      assertThatThrownBy(() -> store(server().url()))
          .isInstanceOf(StoreUnavailableException.class)
          .satisfies(
              failure ->
                  assertThat(String.valueOf(failure.getMessage()).replace("://", ":"))
                      // Behind a semicolon or question mark of a driver's URL may be a password.
                      .contains(server().url().replace("://", ":").replaceFirst("[;?].*", "")));
    } finally {
      server().restart();
    }
  }

  /** Whether the URL may name several servers; true by default. */
  protected boolean takesSeveralServers() {
    return true;
  }

  @Test
  void givenServerThatIsDown_thenTheOtherIsAsked() {
    Assumptions.assumeTrue(takesSeveralServers(), "The store has one address.");
    String both = server().url().replace("://", "://127.0.0.1:1,");
    try (LockStore store = store(both + parameters)) {
      SessionDriver a = SessionDriver.open(store, Duration.ofMinutes(1), "a");
      a.hold(LOCK, Mode.EXCLUSIVE);
    }
  }
}
