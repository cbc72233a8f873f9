package io.mortise.support.outer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.DistributedLock;
import io.mortise.JavaLock;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockOptions;
import io.mortise.LockTimeoutException;
import io.mortise.OuterLocks;
import io.mortise.StoreUnavailableException;
import io.mortise.UnsupportedByStoreException;
import io.mortise.event.LeaseEnd;
import io.mortise.spi.LockStore;
import io.mortise.spi.time.Ticker;
import io.mortise.spi.time.WallClock;
import io.mortise.support.memory.MemStore;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@SuppressWarnings("LockNotBeforeTry") // Steps of the tests lie between.
class OuterLocksTest {
  private static final Duration TTL = Duration.ofSeconds(2);
  private static final Duration LONG = Duration.ofSeconds(20);

  /** The other library: one lock for each name, owned by the thread that took it. */
  private final Map<String, OldLock> old = new ConcurrentHashMap<>();

  private final LockStore store = new MemStore(Ticker.SYSTEM, WallClock.SYSTEM);
  private final LockClient locks = both();

  @AfterEach
  void closes() {
    locks.close();
    store.close();
    old.values().forEach(lock -> assertThat(lock.isLocked()).isFalse());
  }

  @SuppressWarnings("serial")
  private static final class OldLock extends ReentrantLock {
    private final AtomicInteger taken = new AtomicInteger();

    @Override
    public boolean tryLock() {
      return counted(super.tryLock());
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
      return counted(super.tryLock(time, unit));
    }

    private boolean counted(boolean locked) {
      if (locked) {
        taken.incrementAndGet();
      }
      return locked;
    }
  }

  private OldLock old(String name) {
    return old.computeIfAbsent(name, key -> new OldLock());
  }

  private LockClient both() {
    return client(this::old);
  }

  private LockClient client(OuterLocks outer) {
    return LockClient.builder().store(store).ttl(TTL).alsoHolding(outer).build();
  }

  @Test
  void givenHold_whenOldProcessTries_thenItIsRefusedUntilTheRelease() {
    Lease lease = locks.lock("a").acquireAsync().join();
    assertThat(old("a").tryLock()).isFalse();
    lease.close();
    assertThat(old("a").tryLock()).isTrue();
    old("a").unlock();
  }

  @Test
  void givenOldHolder_whenNewOneTries_thenItIsBusy_andAWaiterIsServedAfterTheRelease()
      throws Exception {
    DistributedLock lock = locks.lock("a");
    old("a").lock();
    assertThat(lock.tryAcquire()).isEmpty();
    assertThat(lock.tryAcquire(Duration.ofMillis(50))).isEmpty();
    assertThatThrownBy(() -> lock.acquireWithin(Duration.ofMillis(50)))
        .isInstanceOf(LockTimeoutException.class);
    CompletableFuture<Lease> waiting = lock.acquireAsync(LONG);
    while (!old("a").hasQueuedThreads()) {
      Thread.onSpinWait();
    }
    assertThat(waiting).isNotDone();
    old("a").unlock();
    try (Lease lease = waiting.get()) {
      assertThat(lease.isValid()).isTrue();
      assertThat(old("a").isLocked()).isTrue();
    }
  }

  @Test
  void givenCancelledWait_whenOldHolderReleases_thenTheOuterLockIsFree() throws Exception {
    old("a").lock();
    CompletableFuture<Lease> waiting = locks.lock("a").acquireAsync();
    while (!old("a").hasQueuedThreads()) {
      Thread.onSpinWait();
    }
    waiting.cancel(false);
    while (old("a").hasQueuedThreads()) {
      Thread.onSpinWait();
    }
    old("a").unlock();
    locks.lock("a").acquireWithin(LONG).close();
  }

  /** As Redisson's fair lock: an interrupted wait keeps its place until its thread tries again. */
  @SuppressWarnings("serial")
  private static final class PlacedLock extends ReentrantLock {
    private final AtomicInteger places = new AtomicInteger();

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
      places.set(1);
      boolean locked = super.tryLock(time, unit);
      places.set(0);
      return locked;
    }
  }

  @Test
  void givenWaitThatIsGivenUp_thenItsThreadLeavesTheQueueOfTheOuterLock() throws Exception {
    PlacedLock placed = new PlacedLock();
    placed.lock();
    try (LockClient client = client(name -> placed)) {
      assertThat(client.lock("a").tryAcquire(Duration.ofMillis(100))).isEmpty();
      while (placed.places.get() > 0) {
        Thread.onSpinWait();
      }
    }
    placed.unlock();
  }

  @Test
  void givenHolderOfTheNewLibraryAlone_whenBothAreWanted_thenTheWaiterHoldsTheOuterLockMeanwhile()
      throws Exception {
    try (LockClient alone = LockClient.builder().store(store).ttl(TTL).build()) {
      Lease lease = alone.lock("a").acquire();
      CompletableFuture<Lease> waiting = locks.lock("a").acquireAsync(LONG);
      while (!old("a").isLocked()) {
        Thread.onSpinWait();
      }
      assertThat(waiting).isNotDone();
      lease.close();
      waiting.get().close();
    }
  }

  @Test
  void givenReEntry_thenTheOuterLockIsTakenOnce_andAWaiterOfTheProcessIsServed() throws Exception {
    JavaLock lock = locks.lock("a").asJavaLock();
    lock.lock();
    lock.lock();
    CompletableFuture<Lease> other = locks.lock("a").acquireAsync(LONG);
    assertThat(locks.admin().localWaits().waits()).hasSize(1);
    lock.unlock();
    assertThat(other).isNotDone();
    assertThat(old("a").taken.get()).isOne();
    lock.unlock();
    other.get().close();
  }

  @Test
  void givenWaiterOfTheOldLibrary_whenTheProcessWantsTheLockAgainAndAgain_thenItIsServed()
      throws Exception {
    AtomicBoolean served = new AtomicBoolean();
    Thread[] busy = new Thread[3];
    for (int i = 0; i < busy.length; i++) {
      busy[i] =
          new Thread(
              () -> {
                while (!served.get()) {
                  locks.lock("a").acquireAsync().join().close();
                }
              });
      busy[i].start();
    }
    boolean locked = old("a").tryLock(20, TimeUnit.SECONDS);
    served.set(true);
    if (locked) {
      old("a").unlock();
    }
    for (Thread thread : busy) {
      thread.join();
    }
    assertThat(locked).isTrue();
  }

  @Test
  void givenStickyLock_whenItIsIdle_thenTheOuterLockStaysHeld_untilAnotherClientCallsItBack()
      throws Exception {
    DistributedLock sticky =
        locks.lock("a", LockOptions.DEFAULTS.withSticky(Duration.ofSeconds(8)));
    sticky.acquire().close();
    sticky.acquire().close();
    assertThat(old("a").isLocked()).isTrue();
    assertThat(old("a").taken.get()).isEqualTo(1);
    try (LockClient alone = LockClient.builder().store(store).ttl(TTL).build()) {
      alone.lock("a").acquireWithin(LONG).close();
    }
    assertThat(old("a").tryLock(20, TimeUnit.SECONDS)).isTrue();
    old("a").unlock();
  }

  @Test
  void givenLossOfTheOuterLock_thenTheLeaseIsLost_andItsOwnLockStaysShutUntilItIsClosed()
      throws Exception {
    AtomicBoolean held = new AtomicBoolean(true);
    try (LockClient checked = client(name -> OuterLocks.checked(old(name), held::get));
        LockClient alone = LockClient.builder().store(store).ttl(TTL).build()) {
      Lease lease = checked.lock("b").acquire();
      CompletableFuture<LeaseLostException> lost = new CompletableFuture<>();
      lease.onLost(lost::complete);
      held.set(false);
      assertThat(lost.get().end()).isEqualTo(LeaseEnd.OUTER_LOST);
      assertThat(lost.get()).hasMessageContaining("alsoHolding");
      assertThat(lease.isValid()).isFalse();
      assertThat(alone.lock("b").tryAcquire()).isEmpty();
      assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
      alone.lock("b").acquireWithin(LONG).close();
    }
  }

  @Test
  void givenLossOfTheOuterLockBeforeTheGrant_thenBothAreTakenAnew() throws Exception {
    CountDownLatch seen = new CountDownLatch(1);
    BooleanSupplier lostOnce =
        () -> {
          boolean first = seen.getCount() > 0;
          seen.countDown();
          return !first;
        };
    try (LockClient checked = client(name -> OuterLocks.checked(old(name), lostOnce));
        LockClient alone = LockClient.builder().store(store).ttl(TTL).build()) {
      Lease lease = alone.lock("b").acquire();
      CompletableFuture<Lease> waiting = checked.lock("b").acquireAsync(LONG);
      seen.await();
      lease.close();
      waiting.get().close();
      assertThat(old("b").taken.get()).isEqualTo(2);
    }
  }

  @Test
  void givenLibraryWithoutReadLocksAndPermits_thenTheyAreRefusedByName() {
    assertThatThrownBy(() -> locks.readWriteLock("a").readLock().acquire())
        .isInstanceOf(UnsupportedByStoreException.class)
        .hasMessageContaining("alsoHolding")
        .hasMessageContaining("read lock for 'a'")
        .hasMessageContaining("OuterLocks.shared");
    assertThatThrownBy(() -> locks.semaphore("a", 3).permits(1).tryAcquire())
        .isInstanceOf(UnsupportedByStoreException.class)
        .hasMessageContaining("permits for 'a'");
  }

  @Test
  void givenOtherClient_thenReadersAndPermitsAreHeldThereToo() throws Exception {
    LockStore there = new MemStore(Ticker.SYSTEM, WallClock.SYSTEM);
    try (LockClient oldClient = LockClient.builder().store(there).build();
        LockClient moving = LockClient.builder().store(store).alsoHolding(oldClient).build()) {
      Lease reader = moving.readWriteLock("a").readLock().acquire();
      assertThat(oldClient.lock("a").tryAcquire()).isEmpty();
      oldClient.readWriteLock("a").readLock().acquire().close();
      reader.close();
      oldClient.lock("a").acquireWithin(LONG).close();
      Lease two = moving.semaphore("s", 3).permits(2).acquire();
      assertThat(oldClient.semaphore("s", 3).permits(2).tryAcquire()).isEmpty();
      two.close();
      Lease all = moving.semaphore("s", 3).permits(3).acquire();
      assertThat(oldClient.semaphore("s", 3).permits(1).tryAcquire()).isEmpty();
      all.close();
      oldClient.semaphore("s", 3).permits(3).acquireWithin(LONG).close();
    }
    there.close();
  }

  @Test
  void givenAtLeastTime_whenTheLeaseIsClosed_thenTheOuterLockStaysShutForIt() throws Exception {
    Duration atLeast = Duration.ofMillis(400);
    long begun = System.nanoTime();
    locks.lock("a", LockOptions.DEFAULTS.withAtLeast(atLeast)).acquire().close();
    assertThat(old("a").tryLock()).isFalse();
    assertThat(old("a").tryLock(20, TimeUnit.SECONDS)).isTrue();
    old("a").unlock();
    assertThat(System.nanoTime() - begun).isGreaterThanOrEqualTo(atLeast.toNanos());
  }

  @Test
  void givenAtLeastTime_whenTheLeaseIsClosed_thenTheOuterLockIsStillLookedAt() throws Exception {
    CountDownLatch looks = new CountDownLatch(3);
    BooleanSupplier counts =
        () -> {
          looks.countDown();
          return true;
        };
    try (LockClient checked = client(name -> OuterLocks.checked(old(name), counts))) {
      LockOptions atLeast = LockOptions.DEFAULTS.withAtLeast(Duration.ofHours(1));
      checked.lock("b", atLeast).acquire().close();
      assertThat(looks.await(20, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void givenAtLeastTime_whenTheClientIsClosed_thenTheOtherLibraryKeepsTheRest() throws Exception {
    LockOptions atLeast = LockOptions.DEFAULTS.withAtLeast(Duration.ofHours(1));
    LockStore there = new MemStore(Ticker.SYSTEM, WallClock.SYSTEM);
    try (LockClient oldClient = LockClient.builder().store(there).build()) {
      LockClient moving = LockClient.builder().store(store).alsoHolding(oldClient).build();
      moving.lock("a", atLeast).acquire().close();
      moving.close();
      assertThat(oldClient.lock("a").tryAcquire()).isEmpty();
    }
    there.close();
  }

  @Test
  void givenAtMostTime_whenItIsOver_thenTheOuterLockIsFree() throws Exception {
    Lease lease =
        locks.lock("a", LockOptions.DEFAULTS.withAtMost(Duration.ofMillis(200))).acquire();
    assertThat(old("a").tryLock(20, TimeUnit.SECONDS)).isTrue();
    assertThat(lease.isValid()).isFalse();
    old("a").unlock();
    assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
  }

  @Test
  void givenFailureOfTheOtherLibrary_thenTheCallerIsToldIt_andTheNextTrySucceeds()
      throws Exception {
    AtomicBoolean fails = new AtomicBoolean(true);
    OuterLocks failing =
        name ->
            new ReentrantLock() {
              private static final long serialVersionUID = 1L;

              @Override
              public boolean tryLock() {
                if (fails.get()) {
                  throw new IllegalStateException("no connection to the old server");
                }
                return super.tryLock();
              }
            };
    try (LockClient client = client(failing)) {
      assertThatThrownBy(() -> client.lock("c").tryAcquire())
          .isInstanceOf(StoreUnavailableException.class)
          .hasStackTraceContaining("Outer lock 'c' (alsoHolding) could not be taken")
          .hasStackTraceContaining("no connection to the old server");
      fails.set(false);
      client.lock("c").acquireWithin(LONG).close();
    }
  }

  @Test
  void givenWaitThatFailsAgainAndAgain_thenItIsRepeatedAfterPauses() throws Exception {
    AtomicInteger waits = new AtomicInteger();
    OuterLocks failing =
        name ->
            new ReentrantLock() {
              private static final long serialVersionUID = 1L;

              @Override
              public boolean tryLock() {
                return false;
              }

              @Override
              public boolean tryLock(long time, TimeUnit unit) {
                waits.incrementAndGet();
                throw new IllegalStateException("no connection to the old server");
              }
            };
    try (LockClient client = client(failing)) {
      assertThatThrownBy(() -> client.lock("c").acquireWithin(Duration.ofMillis(500)))
          .isInstanceOf(StoreUnavailableException.class)
          .hasStackTraceContaining("no connection to the old server");
    }
    assertThat(waits.get()).isBetween(1, 50);
  }

  @Test
  void givenLockThatTheOtherLibraryCannotHave_thenItIsRefused() {
    OuterLocks none =
        name -> {
          throw new UnsupportedOperationException("no locks here");
        };
    try (LockClient client = client(none)) {
      assertThatThrownBy(() -> client.lock("c").acquire())
          .isInstanceOf(UnsupportedByStoreException.class)
          .hasMessageContaining("no locks here");
    }
  }

  @Test
  void givenOpenLeases_whenTheClientIsClosed_thenTheOuterLocksAreFree() {
    LockClient client = both();
    client.lock("x").acquireAsync().join();
    client.lock("y").acquireAsync().join();
    client.close();
    assertThat(old("x").isLocked()).isFalse();
    assertThat(old("y").isLocked()).isFalse();
  }

  @Test
  void givenNoLockForAName_thenTheAcquireFails() {
    try (LockClient client =
        client(
            new OuterLocks() {
              @Override
              public Lock exclusive(String name) {
                throw new IllegalArgumentException("no old lock is called " + name);
              }

              @Override
              public Optional<Lock> shared(String name) {
                return Optional.of(old(name));
              }
            })) {
      assertThatThrownBy(() -> client.lock("d").tryAcquire())
          .hasStackTraceContaining("no old lock is called d");
      client.readWriteLock("d").readLock().acquireAsync().join().close();
    }
  }
}
