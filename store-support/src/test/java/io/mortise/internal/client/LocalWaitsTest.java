package io.mortise.internal.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.DistributedLock;
import io.mortise.DistributedReadWriteLock;
import io.mortise.Lease;
import io.mortise.LockGroup;
import io.mortise.LockOptions;
import io.mortise.LockTimeoutException;
import io.mortise.admin.Eviction;
import io.mortise.admin.EvictionResult;
import io.mortise.admin.LocalWait;
import io.mortise.admin.LocalWait.LocalCaller;
import io.mortise.admin.LocalWaits;
import io.mortise.spi.AttemptId;
import io.mortise.spi.time.Ticker;
import io.mortise.spi.time.WallClock;
import io.mortise.support.memory.MemStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Waits between callers of one client, and the message of an acquire whose time is over. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LocalWaitsTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final Duration BRIEF = Duration.ofMillis(50);

  private final MemStore store = new MemStore(Ticker.SYSTEM, WallClock.SYSTEM);
  private final EngineClient client = TestClient.on(store);

  @AfterEach
  void close() {
    client.close();
  }

  private LocalWaits awaitWaits(int count) {
    return awaitWaits(waits -> waits.size() >= count);
  }

  private LocalWaits awaitWaits(Predicate<List<LocalWait>> reached) {
    long end = System.nanoTime() + LONG.toNanos();
    LocalWaits waits = client.admin().localWaits();
    while (!reached.test(waits.waits())) {
      assertThat(end - System.nanoTime()).as("time for waits other than %s", waits).isPositive();
      LockSupport.parkNanos(1_000_000);
      waits = client.admin().localWaits();
    }
    return waits;
  }

  /** Acquires on a new thread, and returns the lease to the caller. */
  private static Lease acquiredBy(String thread, DistributedLock lock) throws Exception {
    FutureTask<Lease> acquire = new FutureTask<>(lock::acquire);
    new Thread(acquire, thread).start();
    return acquire.get(20, TimeUnit.SECONDS);
  }

  private static String failure(CompletableFuture<?> acquire) throws Exception {
    try {
      acquire.get(20, TimeUnit.SECONDS);
      throw new AssertionError("granted");
    } catch (ExecutionException e) {
      assertThat(e.getCause()).isInstanceOf(LockTimeoutException.class);
      return String.valueOf(e.getCause().getMessage());
    }
  }

  /**
   * A thread that holds a lock, and then waits for another one: without limit, or until it is
   * interrupted, and then once more and briefly.
   */
  private final class HolderThread extends Thread {
    final CompletableFuture<String> outcome = new CompletableFuture<>();
    private final CountDownLatch holding = new CountDownLatch(1);
    private final CountDownLatch goesOn = new CountDownLatch(1);
    private final String held;
    private final String wanted;
    private final boolean endless;

    HolderThread(String name, String held, String wanted, boolean endless) {
      super(name);
      this.held = held;
      this.wanted = wanted;
      this.endless = endless;
    }

    @Override
    public void run() {
      try (Lease mine = client.lock(held).acquire()) {
        holding.countDown();
        goesOn.await();
        DistributedLock lock = client.lock(wanted);
        try (Lease other = endless ? lock.acquire() : interruptedThenBrief(lock)) {
          outcome.complete(mine.isValid() && other.isValid() ? "both" : "one");
        }
      } catch (InterruptedException | LockTimeoutException e) {
        outcome.complete(String.valueOf(e.getMessage()));
      }
    }
  }

  /** A wait that others can inspect at leisure, followed by another one that ends soon. */
  private static Lease interruptedThenBrief(DistributedLock lock) throws InterruptedException {
    try {
      lock.acquireWithin(LONG).close();
      throw new AssertionError("granted");
    } catch (InterruptedException e) {
      return lock.acquireWithin(BRIEF);
    }
  }

  @Test
  void givenThreadsThatWaitForEachOther_thenTheyAreFound_andTheTimeoutTellsThatDeadlock()
      throws Exception {
    HolderThread one = new HolderThread("one", "p", "q", true);
    HolderThread two = new HolderThread("two", "q", "p", false);
    one.start();
    two.start();
    one.holding.await();
    two.holding.await();
    assertThat(client.admin().localWaits().waits()).isEmpty();
    one.goesOn.countDown();
    LocalWaits single = awaitWaits(1);
    assertThat(single.waits())
        .containsExactly(
            new LocalWait("q", LocalCaller.of(one), null, List.of(LocalCaller.of(two)), null));
    assertThat(single.possibleDeadlocks()).isEmpty();
    two.goesOn.countDown();
    LocalWaits both = awaitWaits(2);
    assertThat(both.possibleDeadlocks()).hasSize(1);
    assertThat(both.possibleDeadlocks().get(0))
        .extracting(wait -> wait.waiter().thread() + " " + wait.name())
        .containsExactlyInAnyOrder("one q", "two p");
    two.interrupt();
    assertThat(two.outcome.get(20, TimeUnit.SECONDS))
        .contains(
            "Held by thread 'one' (id " + one.getId() + ") of this process, in a possible deadlock")
        .contains("thread 'one' (id " + one.getId() + ") waits for 'q'")
        .contains("thread 'two' (id " + two.getId() + ") waits for 'p'")
        .contains("in one order");
    assertThat(one.outcome.get(20, TimeUnit.SECONDS)).isEqualTo("both");
  }

  @Test
  void givenThreadThatWaitsForItself_thenTheTimeoutSaysSo() throws Exception {
    DistributedLock lock = client.lock("self");
    try (Lease lease = lock.acquire()) {
      assertThat(lease.isValid()).isTrue();
      assertThatThrownBy(() -> lock.acquireWithin(BRIEF))
          .isInstanceOf(LockTimeoutException.class)
          .hasMessageContaining("This thread holds it itself")
          .hasMessageContaining("asJavaLock()");
      assertThatThrownBy(() -> client.readWriteLock("self").readLock().acquireWithin(BRIEF))
          .isInstanceOf(LockTimeoutException.class)
          .hasMessageContaining("This thread holds it itself");
    }
  }

  @Test
  void givenAsynchronousHolder_thenNoThreadIsNamed_andNoDeadlockIsTold() throws Exception {
    Lease lease = client.lock("a").acquireAsync().get(20, TimeUnit.SECONDS);
    CompletableFuture<Lease> waiting = client.lock("a").acquireAsync(LONG);
    LocalWait wait = awaitWaits(1).waits().get(0);
    assertThat(wait.waiter()).isEqualTo(LocalCaller.ASYNCHRONOUS);
    assertThat(wait.holders()).containsExactly(LocalCaller.ASYNCHRONOUS);
    assertThat(wait.waited()).isLessThan(LONG);
    assertThat(client.admin().localWaits().possibleDeadlocks()).isEmpty();
    assertThatThrownBy(() -> client.lock("a").acquireWithin(BRIEF))
        .isInstanceOf(LockTimeoutException.class)
        .hasMessageContaining("acquired asynchronously")
        .hasMessageNotContaining("thread '");
    lease.close();
    waiting.get(20, TimeUnit.SECONDS).close();
    assertThat(client.admin().localWaits().waits()).isEmpty();
  }

  @Test
  void givenHolderInAnotherClient_thenItsAttemptIsNamed_andNoHolderIsHere() throws Exception {
    try (EngineClient other = TestClient.on(store)) {
      Lease lease = other.lock("a").acquire();
      String attempt = client.admin().find("a").orElseThrow().holders().get(0).attempt();
      AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
      Thread waiter =
          new Thread(
              () -> {
                try {
                  interruptedThenBrief(client.lock("a")).close();
                } catch (InterruptedException | LockTimeoutException e) {
                  failure.set(e);
                }
              });
      waiter.start();
      LocalWait wait =
          awaitWaits(waits -> waits.stream().anyMatch(each -> attempt.equals(each.heldElsewhere())))
              .waits()
              .get(0);
      assertThat(wait.waiter()).isEqualTo(LocalCaller.of(waiter));
      assertThat(wait.holders()).isEmpty();
      waiter.interrupt();
      waiter.join();
      assertThat(failure.get())
          .isInstanceOf(LockTimeoutException.class)
          .hasMessageContaining("Held by another client (attempt " + attempt.substring(0, 12));
      lease.close();
    }
  }

  @Test
  void givenPermitsThatAreLeft_thenAHolderOfOthersIsNotInTheWay() throws Exception {
    HolderThread thread = new HolderThread("one", "p", "q", true);
    thread.start();
    thread.holding.await();
    Lease one = client.semaphore("s", 3).permits(1).acquire();
    Lease two = client.semaphore("s", 3).permits(2).acquire();
    CompletableFuture<Lease> waiting = client.semaphore("s", 3).permits(2).acquireAsync();
    assertThat(awaitWaits(1).waits().get(0).holders())
        .containsExactly(LocalCaller.of(Thread.currentThread()));
    two.close();
    waiting.get(20, TimeUnit.SECONDS).close();
    one.close();
    thread.goesOn.countDown();
    assertThat(thread.outcome.get(20, TimeUnit.SECONDS)).isEqualTo("both");
  }

  @Test
  void givenPermitsThatAreTakenTogether_thenAllWhoHaveThemAreInTheWay() throws Exception {
    DistributedLock permit = client.semaphore("s", 2).permits(1);
    Lease one = acquiredBy("one", permit);
    Lease two = acquiredBy("two", permit);
    CompletableFuture<Lease> waiting = permit.acquireAsync(LONG);
    LocalWait wait = awaitWaits(1).waits().get(0);
    assertThat(wait.holders())
        .extracting(LocalCaller::thread)
        .containsExactlyInAnyOrder("one", "two");
    assertThat(wait.heldElsewhere()).isNull();
    assertThatThrownBy(() -> permit.acquireWithin(BRIEF))
        .isInstanceOf(LockTimeoutException.class)
        .hasMessageContaining("Held by thread '")
        .hasMessageContaining("thread 'one' (id ")
        .hasMessageContaining("thread 'two' (id ")
        .hasMessageContaining(" of this process, as far as is known here. Raise the wait time");
    one.close();
    two.close();
    waiting.get(20, TimeUnit.SECONDS).close();
  }

  @Test
  void givenPermitsOfTwoClients_thenBothAreInTheWay() throws Exception {
    try (EngineClient other = TestClient.on(store)) {
      Lease elsewhere = other.semaphore("s", 2).permits(1).acquire();
      String attempt = client.admin().find("s").orElseThrow().holders().get(0).attempt();
      DistributedLock permit = client.semaphore("s", 2).permits(1);
      Lease here = acquiredBy("one", permit);
      CompletableFuture<Lease> waiting = permit.acquireAsync(LONG);
      LocalWait wait =
          awaitWaits(waits -> waits.stream().anyMatch(each -> each.heldElsewhere() != null))
              .waits()
              .get(0);
      assertThat(wait.holders()).extracting(LocalCaller::thread).containsExactly("one");
      assertThat(wait.heldElsewhere()).isEqualTo(attempt);
      assertThatThrownBy(() -> permit.acquireWithin(BRIEF))
          .isInstanceOf(LockTimeoutException.class)
          .hasMessageContaining("Held by thread 'one' (id ")
          .hasMessageContaining(
              " of this process, and by another client (attempt " + AttemptId.parse(attempt) + ";");
      here.close();
      elsewhere.close();
      waiting.get(20, TimeUnit.SECONDS).close();
    }
  }

  @Test
  void givenHolderThatHasPassedTheLockToThisClient_thenItIsNoLongerInTheWay() throws Exception {
    try (EngineClient other = TestClient.on(store)) {
      Lease elsewhere = other.lock("a").acquire();
      DistributedLock fair = client.lock("a", LockOptions.DEFAULTS.withFair(true));
      CompletableFuture<Lease> first = fair.acquireAsync(LONG);
      awaitWaits(waits -> waits.stream().anyMatch(each -> each.heldElsewhere() != null));
      CompletableFuture<Lease> second = fair.acquireAsync(LONG);
      awaitWaits(waits -> waits.stream().filter(each -> each.heldElsewhere() != null).count() == 2);
      elsewhere.close();
      Lease here = first.get(20, TimeUnit.SECONDS);
      LocalWait wait = client.admin().localWaits().waits().get(0);
      assertThat(wait.holders()).containsExactly(LocalCaller.ASYNCHRONOUS);
      assertThat(wait.heldElsewhere()).isNull();
      here.close();
      second.get(20, TimeUnit.SECONDS).close();
    }
  }

  @Test
  void givenReadersBehindAWriter_thenTheReaderThatHoldsIsInTheWayOfAll() throws Exception {
    DistributedReadWriteLock lock = client.readWriteLock("r");
    Lease reader = acquiredBy("reader", lock.readLock());
    CompletableFuture<Lease> writer = lock.writeLock().acquireAsync(LONG);
    CompletableFuture<Lease> behind = lock.readLock().acquireAsync(LONG);
    LocalWaits all =
        awaitWaits(waits -> waits.stream().filter(wait -> !wait.holders().isEmpty()).count() == 2);
    assertThat(all.waits())
        .allSatisfy(
            wait ->
                assertThat(wait.holders())
                    .extracting(LocalCaller::thread)
                    .containsExactly("reader"));
    assertThatThrownBy(() -> lock.readLock().acquireWithin(BRIEF))
        .isInstanceOf(LockTimeoutException.class)
        .hasMessageContaining("Held by thread 'reader' (id ")
        .hasMessageContaining("A reader also waits for writers that came first.");
    reader.close();
    writer.get(20, TimeUnit.SECONDS).close();
    behind.get(20, TimeUnit.SECONDS).close();
  }

  @Test
  void givenReaderThatReadsAgainBehindAWriter_thenTheTimeoutSaysThatItHoldsAShare()
      throws Exception {
    DistributedReadWriteLock lock = client.readWriteLock("r");
    Lease mine = lock.readLock().acquire();
    CompletableFuture<Lease> writer = lock.writeLock().acquireAsync(LONG);
    assertThatThrownBy(() -> lock.readLock().acquireWithin(BRIEF))
        .isInstanceOf(LockTimeoutException.class)
        .hasMessageContaining("This thread holds it itself, or a share of it");
    mine.close();
    writer.get(20, TimeUnit.SECONDS).close();
  }

  @Test
  void givenLockThatIsShut_thenNoHolderIsKnown() throws Exception {
    client.lock("a", LockOptions.DEFAULTS.withAtLeast(LONG)).acquire().close();
    CompletableFuture<Lease> waiting = client.lock("a").acquireAsync(LONG);
    LocalWait wait = awaitWaits(1).waits().get(0);
    assertThat(wait.holders()).isEmpty();
    assertThat(wait.heldElsewhere()).isNull();
    assertThatThrownBy(() -> client.lock("a").acquireWithin(BRIEF))
        .isInstanceOf(LockTimeoutException.class)
        .hasMessageContaining("No holder is known here; mortise show");
    client.admin().reopen("a");
    waiting.get(20, TimeUnit.SECONDS).close();
  }

  @Test
  void givenTryOfALockThatIsHeld_thenItsHolderIsNamed() throws Exception {
    try (EngineClient other = TestClient.on(store)) {
      Lease elsewhere = other.lock("a").acquire();
      assertThatThrownBy(() -> client.lock("a").acquireWithin(Duration.ZERO))
          .isInstanceOf(LockTimeoutException.class)
          .hasMessageContaining("Held by another client (attempt ");
      assertThat(failure(client.lock("a").acquireAsync(Duration.ZERO)))
          .contains("Could not acquire lock 'a' within 0s", "Held by another client (attempt ");
      elsewhere.close();
      Lease here = acquiredBy("one", client.lock("a"));
      assertThat(failure(client.lock("a").acquireAsync(Duration.ZERO)))
          .contains("Held by thread 'one' (id ");
      here.close();
    }
  }

  @Test
  void givenOneLockOfAGroupIsHeld_thenThatLockAndItsHolderAreNamed() throws Exception {
    LockGroup group = client.allOf("a", "b", "c");
    Lease here = acquiredBy("one", client.lock("b"));
    for (Duration wait : List.of(BRIEF, Duration.ZERO)) {
      assertThatThrownBy(() -> group.acquireWithin(wait))
          .isInstanceOf(LockTimeoutException.class)
          .hasMessageStartingWith("Could not acquire all of [a, b, c] within ")
          .hasMessageContaining(
              "; none is held. Lock 'b' was not granted. Held by thread 'one' (id ");
      assertThat(failure(group.acquireAsync(wait)))
          .startsWith("Could not acquire all of [a, b, c] within ")
          .contains("; none is held. Could not acquire lock 'b' within ")
          .contains("Held by thread 'one' (id ");
      assertThat(group.tryAcquire(wait)).isEmpty();
    }
    here.close();
    try (EngineClient other = TestClient.on(store)) {
      Lease elsewhere = other.lock("c").acquire();
      assertThatThrownBy(() -> group.acquireWithin(BRIEF))
          .hasMessageContaining("Lock 'c' was not granted. Held by another client (attempt ");
      elsewhere.close();
    }
  }

  @Test
  void givenAttemptAsAMessageShowsIt_whenEvicted_thenItIsThatOne_andOtherTextIsRefused()
      throws Exception {
    try (EngineClient other = TestClient.on(store)) {
      Lease lease = other.lock("a").acquire();
      client.lock("b").acquire().close();
      String message = failure(client.lock("a").acquireAsync(BRIEF));
      String shown = message.replaceFirst(".*attempt ([^;]+);.*", "$1");
      for (String text : List.of("", "x", shown + "x", shown.substring(1))) {
        assertThatIllegalArgumentException()
            .isThrownBy(() -> client.admin().evict("a", text, Eviction.BREAK))
            .withMessageStartingWith("Not an attempt id: '" + text + "'. Expected ");
      }
      assertThat(lease.isValid()).isTrue();
      assertThat(client.admin().evict("a", shown, Eviction.BREAK))
          .isEqualTo(EvictionResult.HOLD_ENDED);
    }
  }
}
