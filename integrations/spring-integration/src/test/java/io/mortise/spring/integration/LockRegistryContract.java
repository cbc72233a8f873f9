package io.mortise.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.JavaLock.LeaseLostMonitorException;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockOptions;
import io.mortise.admin.Eviction;
import io.mortise.admin.LockParticipant;
import io.mortise.testkit.BoundedWait;
import io.mortise.testserver.TestStore;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.integration.support.locks.DistributedLock;

/**
 * The contract of a lock registry, and faults of the usual ones that it must not have. Two
 * processes use one store.
 */
@SuppressWarnings("LockNotBeforeTry") // A test that fails closes the client.
abstract class LockRegistryContract {
  private static final String KEY = "invoice/42";
  private static final Duration MINUTE = Duration.ofMinutes(1);

  private final TestStore store;
  private final List<AutoCloseable> opened = new ArrayList<>();
  private ExecutorService threads;
  private String url;
  private LockClient here;
  private MortiseLockRegistry registry;
  private MortiseLockRegistry other;

  LockRegistryContract(TestStore store) {
    this.store = store;
  }

  @BeforeEach
  void open() {
    threads = Executors.newCachedThreadPool();
    url = store.newUrl();
    here = connect();
    registry = MortiseLockRegistry.over(here);
    other = MortiseLockRegistry.over(connect());
  }

  @AfterEach
  void close() throws Exception {
    threads.shutdownNow();
    for (AutoCloseable each : opened) {
      each.close();
    }
    opened.clear();
  }

  private LockClient connect() {
    LockClient client = LockClient.connect(url);
    opened.add(client);
    return client;
  }

  @Test
  void givenHolder_thenNoOtherProcessAndNoOtherThreadGetsTheLock_untilItIsUnlocked() {
    Lock lock = registry.obtain(KEY);
    lock.lock();
    assertThat(other.obtain(KEY).tryLock()).isFalse();
    assertThat(elsewhere(() -> registry.obtain(KEY).tryLock())).isFalse();
    assertThat(elsewhere(() -> lock.tryLock(20, TimeUnit.MILLISECONDS))).isFalse();
    lock.unlock();
    assertThat(other.obtain(KEY).tryLock()).isTrue();
    assertThat(lock.tryLock()).isFalse();
    other.obtain(KEY).unlock();
  }

  @Test
  void givenHolder_whenItObtainsAndLocksAgain_thenItReenters_andTheLastUnlockReleases()
      throws Exception {
    registry.obtain(KEY).lock();
    long token = registry.lease(KEY).orElseThrow().token();
    Lock again = registry.obtain(KEY);
    again.lock();
    again.lockInterruptibly();
    assertThat(again.tryLock()).isTrue();
    assertThat(again.tryLock(1, TimeUnit.SECONDS)).isTrue();
    assertThat(registry.lease(KEY).orElseThrow().token()).isEqualTo(token);
    assertThat(again).isEqualTo(registry.obtain(KEY)).isNotEqualTo(other.obtain(KEY));
    for (int i = 0; i < 4; i++) {
      again.unlock();
      assertThat(other.obtain(KEY).tryLock()).isFalse();
    }
    registry.obtain(KEY).unlock();
    assertThat(registry.lease(KEY)).isEmpty();
    assertThat(other.obtain(KEY).tryLock()).isTrue();
    assertThat(other.lease(KEY).orElseThrow().token()).isGreaterThan(token);
    other.obtain(KEY).unlock();
    assertThat(registry.toString()).contains("holds=0");
  }

  @Test
  void givenManyKeys_thenNoneSharesItsLockWithAnother() {
    registry.obtain("key").lock();
    elsewhere(
        () -> {
          for (int i = 0; i < 300; i++) {
            Lock each = registry.obtain("key" + i);
            assertThat(each.tryLock()).as("key%d", i).isTrue();
          }
          assertThat(registry.toString()).contains("holds=301");
          for (int i = 0; i < 300; i++) {
            registry.obtain("key" + i).unlock();
          }
          return null;
        });
    registry.obtain("key").unlock();
  }

  @Test
  void givenThreadThatDoesNotHold_whenItUnlocks_thenItIsRefused_andTheHolderKeepsTheLock() {
    Lock lock = registry.obtain(KEY);
    assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
    lock.lock();
    elsewhere(
        () -> {
          assertThatThrownBy(lock::unlock)
              .isInstanceOf(IllegalMonitorStateException.class)
              .hasMessageContaining(KEY);
          return null;
        });
    assertThat(other.obtain(KEY).tryLock()).isFalse();
    lock.unlock();
    assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
  }

  @Test
  void givenWaiter_whenTheHolderUnlocks_thenTheWaiterHolds() throws Exception {
    registry.obtain(KEY).lock();
    Future<Boolean> waiter =
        threads.submit(
            () -> {
              boolean locked = other.obtain(KEY).tryLock(1, TimeUnit.MINUTES);
              other.obtain(KEY).unlock();
              return locked;
            });
    awaitWaiters(1);
    registry.obtain(KEY).unlock();
    assertThat(waiter.get(60, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void givenWaiterOfLockInterruptibly_whenInterrupted_thenItEnds_andLeavesNothingBehind()
      throws Exception {
    registry.obtain(KEY).lock();
    CountDownLatch interrupted = new CountDownLatch(1);
    Thread waiter =
        start(
            () -> {
              try {
                other.obtain(KEY).lockInterruptibly();
              } catch (InterruptedException e) {
                interrupted.countDown();
              }
            });
    awaitWaiters(1);
    waiter.interrupt();
    assertThat(interrupted.await(60, TimeUnit.SECONDS)).isTrue();
    registry.obtain(KEY).unlock();
    registry.obtain(KEY).lock();
    registry.obtain(KEY).unlock();
    assertThat(other.toString()).contains("holds=0");
  }

  @Test
  void givenWaiterOfLock_whenInterrupted_thenItGoesOnWaiting_andTheFlagIsKept() throws Exception {
    registry.obtain(KEY).lock();
    Future<Boolean> waiter =
        threads.submit(
            () -> {
              Thread.currentThread().interrupt();
              other.obtain(KEY).lock();
              other.obtain(KEY).unlock();
              return Thread.interrupted();
            });
    awaitWaiters(1);
    registry.obtain(KEY).unlock();
    assertThat(waiter.get(60, TimeUnit.SECONDS)).as("the flag").isTrue();
  }

  @Test
  void givenTimeToLive_whenItIsOver_thenTheNextHolds_andTheLateUnlockChangesNothing() {
    MortiseDistributedLockRegistry timed = MortiseDistributedLockRegistry.over(here);
    DistributedLock lock = timed.obtain(KEY);
    lock.lock(Duration.ofMillis(100));
    Lease lease = timed.lease(KEY).orElseThrow();
    other.obtain(KEY).lock();
    assertThat(lease.isValid()).isFalse();
    assertThatThrownBy(lock::lock).isInstanceOf(LeaseLostException.class);
    assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostMonitorException.class);
    assertThatThrownBy(lock::unlock)
        .isInstanceOf(IllegalMonitorStateException.class)
        .isNotInstanceOf(LeaseLostMonitorException.class);
    assertThat(lock.tryLock()).as("the next holder's lock").isFalse();
    other.obtain(KEY).unlock();
    lock.lock();
    lock.unlock();
  }

  @Test
  void givenTimeToLive_whenReentered_thenItIsRestarted_butAHoldWithoutOneGetsNone()
      throws Exception {
    MortiseDistributedLockRegistry timed = MortiseDistributedLockRegistry.over(here);
    DistributedLock lock = timed.obtain(KEY);
    assertThat(lock.tryLock(Duration.ofSeconds(5), MINUTE)).isTrue();
    assertThat(holder().atMostLeft()).isBetween(Duration.ofSeconds(1), MINUTE);
    lock.lock(MINUTE.multipliedBy(10));
    assertThat(holder().atMostLeft()).isGreaterThan(MINUTE);
    lock.unlock();
    lock.unlock();
    lock.lock();
    assertThat(lock.tryLock(Duration.ZERO, Duration.ofMillis(1))).isTrue();
    assertThat(holder().atMostLeft()).isNull();
    lock.unlock();
    lock.unlock();
    assertThat(elsewhere(() -> other.obtain(KEY).tryLock())).isTrue();
    assertThat(lock.tryLock(Duration.ofMillis(10), MINUTE)).isFalse();
    assertThatThrownBy(() -> lock.lock(Duration.ZERO)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void givenOptionsWithAtMostTime_thenHoldsHaveIt_andRenewalRestartsIt() {
    MortiseLockRegistry timed =
        MortiseLockRegistry.over(here, "", LockOptions.DEFAULTS.withAtMost(MINUTE));
    timed.obtain(KEY).lock();
    assertThat(holder().atMostLeft()).isLessThanOrEqualTo(MINUTE);
    timed.renewLock(KEY, MINUTE.multipliedBy(10));
    assertThat(holder().atMostLeft()).isGreaterThan(MINUTE);
    timed.renewLock(KEY);
    assertThat(holder().atMostLeft()).isGreaterThan(MINUTE);
    timed.obtain(KEY).unlock();
  }

  @Test
  void givenNoHold_whenRenewed_thenItIsRefused_andSoIsALostOne() {
    assertThatThrownBy(() -> registry.renewLock(KEY)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> registry.renewLock(KEY, MINUTE))
        .isInstanceOf(IllegalStateException.class);
    registry.obtain(KEY).lock();
    registry.renewLock(KEY);
    elsewhere(
        () -> {
          assertThatThrownBy(() -> registry.renewLock(KEY))
              .isInstanceOf(IllegalStateException.class);
          return null;
        });
    evict();
    assertThatThrownBy(() -> registry.renewLock(KEY)).isInstanceOf(LeaseLostException.class);
    assertThatThrownBy(() -> registry.renewLock(KEY, MINUTE))
        .isInstanceOf(LeaseLostException.class);
    assertThatThrownBy(() -> registry.obtain(KEY).unlock())
        .isInstanceOf(LeaseLostMonitorException.class);
    assertThat(registry.toString()).contains("holds=0");
  }

  @Test
  void givenTasks_whenExecutedLocked_thenTheyHoldTheLock_orTimeOut() throws Exception {
    assertThat(
            registry.<Boolean, RuntimeException>executeLocked(
                KEY, () -> elsewhere(() -> other.obtain(KEY).tryLock())))
        .isFalse();
    registry.obtain(KEY).lock();
    assertThatThrownBy(
            () ->
                elsewhere(
                    () -> {
                      other.<RuntimeException>executeLocked(
                          KEY, Duration.ofMillis(10), () -> assertThat(true).isFalse());
                      return null;
                    }))
        .hasRootCauseInstanceOf(TimeoutException.class);
    registry.obtain(KEY).unlock();
    other.<RuntimeException>executeLocked(KEY, MINUTE, () -> {});
  }

  @Test
  void givenTaskThatThrows_whenTheLeaseIsLostMeanwhile_thenItsExceptionReachesTheCaller() {
    assertThatThrownBy(
            () ->
                registry.<IllegalArgumentException>executeLocked(
                    KEY,
                    () -> {
                      evict();
                      throw new IllegalArgumentException("of the task");
                    }))
        .isInstanceOf(IllegalArgumentException.class)
        .satisfies(
            e ->
                assertThat(e.getSuppressed())
                    .hasAtLeastOneElementOfType(LeaseLostMonitorException.class));
    assertThatThrownBy(() -> registry.<RuntimeException>executeLocked(KEY, MINUTE, () -> evict()))
        .isInstanceOf(LeaseLostMonitorException.class);
    assertThat(registry.toString()).contains("holds=0");
  }

  @Test
  void givenKeysOfAllKinds_thenEachIsALockOfItsOwn_unlessItHasNoText() {
    Object[] keys = {
      UUID.fromString("6e9d7a0e-7a0c-4d5e-9d3e-5b1f6f0b1c2d"),
      Path.of("/data/in/report.csv"),
      42,
      "",
      "a\nb",
      "a\rb",
      "\ud800",
      "\ud801",
      "long".repeat(200),
      "long".repeat(200) + "er"
    };
    for (Object key : keys) {
      assertThat(registry.obtain(key).tryLock()).as("%s", key).isTrue();
    }
    elsewhere(
        () -> {
          for (Object key : keys) {
            assertThat(other.obtain(key).tryLock()).as("%s", key).isFalse();
          }
          return null;
        });
    for (Object key : keys) {
      registry.obtain(key).unlock();
    }
    assertThatThrownBy(() -> registry.obtain(new Object()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("java.lang.Object");
    assertThatThrownBy(() -> registry.obtain(new byte[] {1}))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> registry.obtain(null)).isInstanceOf(NullPointerException.class);
  }

  @Test
  void givenKeyThatIsHashed_thenTheTextOfItsHashIsAnotherKey() throws Exception {
    String hashed = "long".repeat(200);
    byte[] hash =
        MessageDigest.getInstance("SHA-256").digest(hashed.getBytes(StandardCharsets.UTF_16BE));
    Lock same = other.obtain("sha256/" + HexFormat.of().formatHex(hash));
    registry.obtain(hashed).lock();
    assertThat(same.tryLock()).isTrue();
    same.unlock();
    registry.obtain(hashed).unlock();
  }

  @Test
  void givenPrefix_thenItsLocksAreOthers_andPeopleSeeIt() {
    MortiseLockRegistry files =
        MortiseLockRegistry.over(here, "files/", LockOptions.DEFAULTS.withLabel("writer"));
    files.obtain(KEY).lock();
    assertThat(other.obtain(KEY).tryLock()).isTrue();
    assertThat(here.admin().find("files/" + KEY).orElseThrow().holders())
        .extracting(LockParticipant::label)
        .containsExactly("writer");
    other.obtain(KEY).unlock();
    files.obtain(KEY).unlock();
    assertThatThrownBy(() -> MortiseLockRegistry.over(here, "a\n", LockOptions.DEFAULTS))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> MortiseLockRegistry.over(here, "p".repeat(500), LockOptions.DEFAULTS))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void givenThreadsOfTwoProcesses_whenAllLock_thenTheyNeverOverlap() throws Exception {
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger overlaps = new AtomicInteger();
    List<Future<?>> all = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      MortiseLockRegistry own = i % 2 == 0 ? registry : other;
      all.add(
          threads.submit(
              () -> {
                for (int round = 0; round < 10; round++) {
                  Lock lock = own.obtain(KEY);
                  lock.lock();
                  try {
                    overlaps.addAndGet(inside.getAndIncrement());
                    own.obtain(KEY).lock();
                    own.obtain(KEY).unlock();
                    inside.getAndDecrement();
                  } finally {
                    lock.unlock();
                  }
                }
              }));
    }
    for (Future<?> each : all) {
      each.get(60, TimeUnit.SECONDS);
    }
    assertThat(overlaps).hasValue(0);
    assertThat(registry.toString()).contains("holds=0");
  }

  @Test
  void givenLock_thenItHasNoConditions() {
    assertThatThrownBy(() -> registry.obtain(KEY).newCondition())
        .isInstanceOf(UnsupportedOperationException.class);
  }

  private <T> T elsewhere(Callable<T> task) {
    try {
      return threads.submit(task).get(60, TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private static Thread start(Runnable task) {
    Thread thread = new Thread(task, "waiter");
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private LockParticipant holder() {
    return here.admin().find(KEY).orElseThrow().holders().get(0);
  }

  private void awaitWaiters(int count) {
    await()
        .atMost(BoundedWait.scaled(BoundedWait.ANSWER))
        .until(() -> here.admin().find(KEY).orElseThrow().waiters().size(), size -> size == count);
  }

  /** An operator ends the hold of this thread at once. */
  private void evict() {
    Lease lease = registry.lease(KEY).orElseThrow();
    here.admin().evict(KEY, holder().attempt(), Eviction.BREAK);
    await()
        .atMost(BoundedWait.scaled(BoundedWait.ANSWER))
        .until(() -> lease.state() == Lease.State.LOST);
  }
}
