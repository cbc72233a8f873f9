package io.mortise.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.admin.Eviction;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockState;
import io.mortise.admin.StoreInfo;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testserver.TestStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockExtender;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.LockingTaskExecutor;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The contract of a lock provider that can extend, and faults of the usual ones that it must not
 * have. Two processes use one store.
 */
abstract class LockProviderContract {
  static final Duration MINUTE = Duration.ofMinutes(1);
  private static final Duration NONE = Duration.ZERO;
  private static final String JOB = "report";

  private final TestStore store;
  private final List<AutoCloseable> opened = new ArrayList<>();
  private String url;
  private LockClient here;
  private MortiseLockProvider provider;
  private MortiseLockProvider other;

  LockProviderContract(TestStore store) {
    this.store = store;
  }

  @BeforeEach
  void open() {
    url = store.newUrl();
    here = connect();
    provider = MortiseLockProvider.over(here);
    other = MortiseLockProvider.over(connect());
  }

  @AfterEach
  void close() throws Exception {
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
  void givenFreeLock_whenLocked_thenNobodyElseGetsIt_untilItIsUnlocked() {
    for (int round = 0; round < 5; round++) {
      SimpleLock lock = lock(provider, MINUTE, NONE);
      assertThat(other.lock(times(MINUTE, NONE))).isEmpty();
      assertThat(provider.lock(times(MINUTE, NONE))).as("it is not re-entrant").isEmpty();
      lock.unlock();
      lock(other, MINUTE, NONE).unlock();
    }
  }

  @Test
  void givenTwoNames_thenTheirLocksAreIndependent() {
    SimpleLock first = lock(provider, MINUTE, NONE);
    Optional<SimpleLock> second =
        other.lock(new LockConfiguration(ClockProvider.now(), "another report", MINUTE, NONE));
    assertThat(second).isPresent();
    second.get().unlock();
    first.unlock();
  }

  @Test
  void givenTaskBeyondItsAtMostTime_whenItUnlocks_thenTheNextHolderKeepsTheLock() {
    SimpleLock overdue = lock(provider, Duration.ofMillis(100), NONE);
    Lease lease = provider.currentLease().orElseThrow();
    SimpleLock next = awaitLock(other);
    assertThat(lease.isValid()).as("the late holder can know").isFalse();
    overdue.unlock();
    assertThat(provider.lock(times(MINUTE, NONE))).as("the next holder's lock").isEmpty();
    next.unlock();
    lock(provider, MINUTE, NONE).unlock();
  }

  @Test
  void givenNoAtMostTimes_whenATaskIsLongerThanItsOwn_thenItKeepsTheLock() {
    SimpleLock lock = lock(provider.withoutAtMost(), Duration.ofMillis(1), NONE);
    assertThat(holder().atMostLeft()).isNull();
    SimpleLock extended = lock.extend(Duration.ofMillis(1), NONE).orElseThrow();
    assertThat(holder().atMostLeft()).isNull();
    assertThat(other.lock(times(MINUTE, NONE))).isEmpty();
    extended.unlock();
    lock(other, MINUTE, NONE).unlock();
  }

  @Test
  @RerunIfPaused
  void givenAtLeastTime_whenUnlockedEarly_thenTheLockStaysShutUntilThen() {
    Duration atLeast = Duration.ofMillis(700);
    long before = System.nanoTime();
    lock(provider, MINUTE, atLeast).unlock();
    assertThat(other.lock(times(MINUTE, NONE))).isEmpty();
    SimpleLock next = awaitLock(other);
    assertThat(Duration.ofNanos(System.nanoTime() - before))
        .isGreaterThan(atLeast.minusMillis(100));
    next.unlock();
  }

  @Test
  void givenExtension_thenTheNewLockHasTheNewTimes_andTheOldOneIsUsedUp() {
    SimpleLock lock = lock(provider, Duration.ofSeconds(20), NONE);
    SimpleLock extended = lock.extend(Duration.ofMinutes(10), NONE).orElseThrow();
    assertAtMostLeft(Duration.ofMinutes(5));
    assertThatThrownBy(lock::unlock).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> lock.extend(MINUTE, NONE)).isInstanceOf(IllegalStateException.class);
    assertThat(other.lock(times(MINUTE, NONE))).isEmpty();
    SimpleLock again = extended.extend(Duration.ofMinutes(20), NONE).orElseThrow();
    assertAtMostLeft(Duration.ofMinutes(15));
    again.unlock();
    lock(other, MINUTE, NONE).unlock();
  }

  @Test
  void givenExtensionWithAtLeastTime_whenUnlocked_thenTheLockStaysShut() {
    SimpleLock lock = lock(provider, MINUTE, NONE);
    lock.extend(MINUTE, Duration.ofSeconds(50)).orElseThrow().unlock();
    LockInfo info = here.admin().find(JOB).orElseThrow();
    assertThat(info.state()).isEqualTo(LockState.SHUT);
    assertThat(info.shutFor()).isGreaterThan(Duration.ofSeconds(10));
    assertThat(other.lock(times(MINUTE, NONE))).isEmpty();
  }

  @Test
  void givenExtensionWithoutAtLeastTime_whenUnlocked_thenTheFormerAtLeastTimeIsGone() {
    SimpleLock lock = lock(provider, MINUTE, Duration.ofSeconds(50));
    lock.extend(MINUTE, NONE).orElseThrow().unlock();
    awaitLock(other).unlock();
  }

  @Test
  void givenWrongTimes_whenExtended_thenTheyAreRefused_andTheLockIsHeld() {
    SimpleLock lock = lock(provider, MINUTE, NONE);
    assertThatThrownBy(() -> lock.extend(NONE, MINUTE))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> lock.extend(Duration.ofDays(5000), NONE))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(other.lock(times(MINUTE, NONE))).isEmpty();
    lock.unlock();
    lock(other, MINUTE, NONE).unlock();
  }

  @Test
  void givenLostLock_whenExtended_thenThereIsNone_andUnlockThrowsNothing() {
    SimpleLock lock = lock(provider, MINUTE, NONE);
    evict();
    assertThat(lock.extend(MINUTE, NONE)).isEmpty();
    assertThat(lock.extend(MINUTE, MINUTE)).isEmpty();
    assertThat(provider.currentLease())
        .get()
        .as("a task must not take the lease around a lost one for its own")
        .extracting(Lease::state)
        .isEqualTo(Lease.State.LOST);
    lock.unlock();
    assertThat(provider.currentLease()).isEmpty();
    assertThatThrownBy(lock::unlock).isInstanceOf(IllegalStateException.class);
    lock(other, MINUTE, NONE).unlock();
  }

  @Test
  void givenUnlockedLock_whenUsedAgain_thenItIsRefused() {
    SimpleLock lock = lock(provider, MINUTE, NONE);
    lock.unlock();
    assertThatThrownBy(lock::unlock)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("'" + JOB + "'");
    assertThatThrownBy(() -> lock.extend(MINUTE, NONE)).isInstanceOf(IllegalStateException.class);
    lock(other, MINUTE, NONE).unlock();
  }

  @Test
  void givenAnotherThread_whenItExtendsAndUnlocks_thenTheTakersThreadHoldsNothing() {
    SimpleLock lock = lock(provider, MINUTE, NONE);
    inAnotherThread(
        () -> {
          assertThat(provider.currentLease()).as("of the other thread").isEmpty();
          lock.extend(MINUTE, NONE).orElseThrow().unlock();
          return null;
        });
    assertThat(provider.currentLease()).isEmpty();
    lock(other, MINUTE, NONE).unlock();
  }

  @Test
  void givenProcessThatEnds_thenItsLocksAreFree_unlessAnAtLeastTimeKeepsThemShut() {
    LockClient dying = connect();
    MortiseLockProvider third = MortiseLockProvider.over(dying);
    assertThat(third.lock(times(MINUTE, NONE))).isPresent();
    assertThat(third.lock(new LockConfiguration(ClockProvider.now(), "nightly", MINUTE, MINUTE)))
        .isPresent();
    dying.close();
    awaitLock(provider).unlock();
    assertThat(provider.lock(new LockConfiguration(ClockProvider.now(), "nightly", MINUTE, NONE)))
        .isEmpty();
    assertThatThrownBy(() -> third.lock(times(MINUTE, NONE)))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void givenExecutor_whenTaskRuns_thenItsLeaseIsThere_withTokensThatRise() throws Throwable {
    LockingTaskExecutor executor = new DefaultLockingTaskExecutor(provider);
    List<Long> tokens = new ArrayList<>();
    for (int run = 0; run < 3; run++) {
      executor.executeWithLock(
          (LockingTaskExecutor.Task)
              () -> {
                tokens.add(provider.currentLease().orElseThrow().token());
                LockExtender.extendActiveLock(MINUTE, NONE);
                assertThat(provider.currentLease().orElseThrow().token())
                    .isEqualTo(tokens.get(tokens.size() - 1));
                executor.executeWithLock(
                    (LockingTaskExecutor.Task)
                        () ->
                            assertThat(provider.currentLease().orElseThrow().name())
                                .isEqualTo("inner"),
                    new LockConfiguration(ClockProvider.now(), "inner", MINUTE, NONE));
                assertThat(provider.currentLease().orElseThrow().name()).isEqualTo(JOB);
              },
          times(MINUTE, NONE));
      assertThat(provider.currentLease()).isEmpty();
    }
    assertThat(tokens).hasSize(3).doesNotHaveDuplicates().isSorted();
  }

  @Test
  void givenExecutor_whenTheLockIsLostMeanwhile_thenTheTasksOwnExceptionReachesTheCaller() {
    LockingTaskExecutor executor = new DefaultLockingTaskExecutor(provider);
    AtomicInteger told = new AtomicInteger();
    assertThatThrownBy(
            () ->
                executor.executeWithLock(
                    (LockingTaskExecutor.Task)
                        () -> {
                          provider
                              .currentLease()
                              .orElseThrow()
                              .onLost(loss -> told.incrementAndGet());
                          evict();
                          throw new IllegalArgumentException("of the task");
                        },
                    times(MINUTE, NONE)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("of the task");
    await().until(() -> told.get() == 1);
    lock(other, MINUTE, NONE).unlock();
  }

  @Test
  void givenExecutor_whenAnExtensionFails_thenThatIsWhatTheCallerIsTold() {
    LockingTaskExecutor executor = new DefaultLockingTaskExecutor(provider);
    assertThatThrownBy(
            () ->
                executor.executeWithLock(
                    (LockingTaskExecutor.Task)
                        () -> {
                          evict();
                          LockExtender.extendActiveLock(MINUTE, NONE);
                        },
                    times(MINUTE, NONE)))
        .isInstanceOf(LockExtender.LockCanNotBeExtendedException.class);
    lock(other, MINUTE, NONE).unlock();
  }

  @Test
  void givenThreadsOfTwoProcesses_whenAllTry_thenTasksNeverOverlap() throws Exception {
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger overlaps = new AtomicInteger();
    AtomicInteger runs = new AtomicInteger();
    ExecutorService threads = Executors.newFixedThreadPool(6);
    try {
      List<Future<?>> all = new ArrayList<>();
      for (int i = 0; i < 6; i++) {
        LockProvider own = i % 2 == 0 ? provider : other;
        all.add(
            threads.submit(
                () -> {
                  for (int attempt = 0; attempt < 5000 && runs.get() < 60; attempt++) {
                    Optional<SimpleLock> lock = own.lock(times(MINUTE, NONE));
                    if (lock.isPresent()) {
                      overlaps.addAndGet(inside.getAndIncrement());
                      LockSupport.parkNanos(100_000);
                      inside.getAndDecrement();
                      runs.incrementAndGet();
                      lock.get().unlock();
                    }
                  }
                }));
      }
      for (Future<?> each : all) {
        each.get(60, TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(overlaps).hasValue(0);
    assertThat(runs.get()).isGreaterThanOrEqualTo(60);
  }

  @Test
  void givenNameThatIsNoLockName_whenLocked_thenItIsRefused() {
    assertThatThrownBy(
            () -> provider.lock(new LockConfiguration(ClockProvider.now(), "a\nb", MINUTE, NONE)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("control character");
    // 800 bytes: the text is shorter than the longest name.
    assertThatThrownBy(
            () ->
                provider.lock(
                    new LockConfiguration(ClockProvider.now(), "é".repeat(400), MINUTE, NONE)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("512");
  }

  private static LockConfiguration times(Duration atMost, Duration atLeast) {
    return new LockConfiguration(ClockProvider.now(), JOB, atMost, atLeast);
  }

  private static SimpleLock lock(LockProvider provider, Duration atMost, Duration atLeast) {
    Optional<SimpleLock> lock = provider.lock(times(atMost, atLeast));
    assertThat(lock).isPresent();
    return lock.get();
  }

  private static SimpleLock awaitLock(LockProvider provider) {
    return await()
        .atMost(BoundedWait.scaled(BoundedWait.ANSWER))
        .pollInterval(Duration.ofMillis(5))
        .until(() -> provider.lock(times(MINUTE, NONE)), Optional::isPresent)
        .get();
  }

  /** The at-most time that the store keeps; where the engine alone keeps it, none is shown. */
  private void assertAtMostLeft(Duration least) {
    boolean kept = here.admin().store().has(StoreInfo.Feature.COUNTS_AT_LEAST);
    assertThat(holder().atMostLeft()).matches(left -> !kept || left.compareTo(least) > 0);
  }

  private LockParticipant holder() {
    return here.admin().find(JOB).orElseThrow().holders().get(0);
  }

  /** An operator ends the hold at once; the holder is told. */
  private void evict() {
    Lease lease = provider.currentLease().orElseThrow();
    connect().admin().evict(JOB, holder().attempt(), Eviction.BREAK);
    await()
        .atMost(BoundedWait.scaled(BoundedWait.ANSWER))
        .until(() -> lease.state() == Lease.State.LOST);
  }

  private static void inAnotherThread(Callable<?> task) {
    ExecutorService thread = Executors.newSingleThreadExecutor();
    try {
      thread.submit(task).get(60, TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new AssertionError(e);
    } finally {
      thread.shutdownNow();
    }
  }
}
