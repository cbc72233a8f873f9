package io.mortise.testkit.contract.document;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockName;
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
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * What a store of documents without a clock must survive on a real server that is killed and
 * stopped, and whose clients die. For an adapter whose URL has the parameters {@code namespace} and
 * {@code timeout}. Each test has a namespace of its own.
 *
 * @param <S> the server
 */
@Beta
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class ClocklessFaultContract<S extends LocalServer> {
  private static final AtomicInteger NAMESPACES = new AtomicInteger();

  private static final Duration LONG = Duration.ofSeconds(60);
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
   * The same, on the way that a URL names.
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
    BoundedWait.until(
        LONG, "one waits", () -> client.admin().find("x").orElseThrow().waiters().size() == 1);
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

  @Test
  void givenNobodyThatListens_thenOpeningSaysSo() {
    server().kill();
    try {
      assertThatThrownBy(() -> store(server().url()))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining(server().url().replace("://", ":"));
    } finally {
      server().restart();
    }
  }

  /** Whether the URL may name several servers; so unless it is overridden. */
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
