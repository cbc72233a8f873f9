package io.mortise.testkit.contract.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.DistributedLock;
import io.mortise.FencingToken;
import io.mortise.GroupLease;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockOptions;
import io.mortise.UnsupportedByStoreException;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockState;
import io.mortise.event.LeaseEnd;
import io.mortise.spi.Capability;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.PauseDetector;
import io.mortise.testkit.RecordingConsumer;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testkit.StoreUnderTest;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The information of a lease, its ends, and the times that the store keeps for it. */
class LeaseSuite extends ClientSuite {
  LeaseSuite(StoreUnderTest under) {
    super(under);
  }

  @Test
  void givenLease_thenItTellsWhatItIs_andAfterCloseThatItIsOver() throws Exception {
    Peer a = peer("worker-7");
    Lease lease = a.client().lock(LOCK, LockOptions.DEFAULTS.withLabel("nightly report")).acquire();

    assertThat(lease.name()).isEqualTo(LOCK);
    assertThat(lease.state()).isEqualTo(Lease.State.HELD);
    assertThat(lease.isValid()).isTrue();
    assertThat(lease.remaining()).isBetween(peerTtl().dividedBy(2), peerTtl());
    lease.ensureValid();
    LockParticipant holder = holders(LOCK).get(0);
    if (can(Capability.SESSION)) {
      assertThat(holder.label()).isEqualTo("nightly report");
      assertThat(holder.client()).isNotNull().extracting("name").isEqualTo("worker-7");
    }
    LockInfo seen = a.client().admin().find(LOCK).orElseThrow();
    assertThat(seen.state()).isEqualTo(LockState.HELD);
    assertThat(seen.permits()).isEmpty();
    assertThat(seen.holders())
        .singleElement()
        .extracting(LockParticipant::share)
        .hasToString("exclusive");
    if (under.listsLocks()) {
      assertThat(a.client().admin().stream("")).extracting(LockInfo::name).containsExactly(LOCK);
      assertThat(a.client().admin().stream(LOCK + "/")).isEmpty();
    }

    lease.close();
    lease.close();
    assertThat(lease.state()).isEqualTo(Lease.State.RELEASED);
    assertThat(lease.isValid()).isFalse();
    assertThat(lease.remaining()).isZero();
    assertThatThrownBy(lease::ensureValid).isInstanceOf(IllegalStateException.class);
    assertThat(holders(LOCK)).as("close waits for the store's answer").isEmpty();
  }

  @Test
  @RerunIfPaused
  void givenApplicationThatBlocksTheCommonPool_thenLocksAreGrantedAndRenewed() throws Exception {
    CountDownLatch testIsOver = new CountDownLatch(1);
    ForkJoinPool pool = ForkJoinPool.commonPool();
    for (int i = 0; i < pool.getParallelism(); i++) {
      Future<Boolean> unused = pool.submit(() -> testIsOver.await(60, TimeUnit.SECONDS));
    }
    try {
      Lease lease = mortal("a").lock().acquireWithin(LONG);
      Future<Lease> next = acquiring(peer("b").lock());
      BoundedWait.pass(mortalTtl().multipliedBy(2));
      assertThat(lease.isValid()).isTrue();
      lease.close();
      get(next).close();
    } finally {
      testIsOver.countDown();
    }
    assertNothingLeft(LOCK);
  }

  @Test
  void givenLease_whenAnotherThreadClosesIt_thenItIsReleased() throws Exception {
    Peer a = peer("a");
    Lease lease = a.lock().acquire();
    get(
        start(
            () -> {
              lease.close();
              return true;
            }));
    assertThat(isFree(peer("b").lock())).isTrue();
  }

  @Test
  void givenAsynchronousRelease_thenALaterAcquireOfThisProcessComesAfterIt() throws Exception {
    Peer a = peer("a");
    for (int i = 0; i < 20; i++) {
      Lease lease = a.lock().acquireWithin(LONG);
      CompletableFuture<Void> released = lease.releaseAsync();
      Lease next = a.lock().acquireWithin(LONG);
      next.close();
      assertThat(released).succeedsWithin(LONG);
    }
    a.client().lock(LOCK, LockOptions.DEFAULTS.withReleaseAsync(true)).acquire().close();
    assertNothingLeft(LOCK);
  }

  @Test
  @Tag("tokens-rise")
  void givenHoldsOfTwoProcessesAndManyThreads_thenTokensRiseFromHoldToHold() throws Exception {
    needs(Capability.TOKEN);
    List<DistributedLock> locks = List.of(peer("a").lock(), peer("b").lock());
    AtomicLong last = new AtomicLong();
    List<Future<?>> threads = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      DistributedLock lock = locks.get(t % 2);
      threads.add(
          start(
              () -> {
                for (int i = 0; i < 50; i++) {
                  Lease lease = lock.acquireWithin(LONG);
                  long token = lease.token();
                  assertThat(token).isGreaterThan(last.get());
                  last.set(token);
                  assertThat(lease.token()).isEqualTo(token);
                  lease.close();
                }
                return true;
              }));
    }
    threads.forEach(ClientSuite::get);
    assertNothingLeft(LOCK);
  }

  @Test
  void givenExclusiveHold_thenItsFencingTokenTellsLockValueAndHolder() throws Exception {
    Peer a = peer("a");
    try (Lease lease = a.lock().acquire()) {
      if (!can(Capability.TOKEN)) {
        assertThatThrownBy(lease::token)
            .isInstanceOf(UnsupportedByStoreException.class)
            .hasMessageContaining("'" + LOCK + "'")
            .hasMessageContaining("token");
        assertThatThrownBy(lease::fencingToken).isInstanceOf(UnsupportedByStoreException.class);
        assertThat(lease.toString()).contains("token=none");
        return;
      }
      FencingToken token = lease.fencingToken();
      assertThat(token.lock()).isEqualTo(LOCK);
      assertThat(token.value()).isEqualTo(lease.token());
      assertThat(token.holder()).isEqualTo(holders(LOCK).get(0).attempt());
      assertThat(lease.fencingToken()).isEqualTo(token);
    }
  }

  @Test
  @RerunIfPaused
  void givenAtMost_whenItIsOver_thenTheLeaseIsLostInTime_andAnotherMayHold() throws Exception {
    Peer a = peer("a");
    Peer b = peer("b");
    RecordingConsumer<LeaseLostException> told = new RecordingConsumer<>();
    Duration most = PauseDetector.stretched(Duration.ofMillis(400));
    Lease lease = a.client().lock(LOCK, LockOptions.DEFAULTS.withAtMost(most)).acquire();
    lease.onLost(told);
    assertThat(lease.remaining()).isLessThanOrEqualTo(most);

    Lease next = b.lock().acquireWithin(LONG);

    assertThat(lease.isValid()).as("when the next holds, the first does not believe").isFalse();
    assertThat(told.await(1).get(0)).hasMessageContaining("'" + LOCK + "'");
    assertThat(lease.state()).isEqualTo(Lease.State.LOST);
    assertThat(lease.remaining()).isZero();
    if (can(Capability.TOKEN)) {
      assertThatThrownBy(lease::token).isInstanceOf(LeaseLostException.class);
      assertThatThrownBy(lease::fencingToken).isInstanceOf(LeaseLostException.class);
    }
    assertThatThrownBy(lease::ensureValid).isInstanceOf(LeaseLostException.class);
    assertThatThrownBy(() -> lease.extend(LONG)).isInstanceOf(LeaseLostException.class);
    assertThatThrownBy(
            () -> {
              try (lease) {
                lease.ensureValid();
              }
            })
        .isInstanceOf(LeaseLostException.class)
        .satisfies(loss -> assertThat(loss.getSuppressed()).as("what close() threw").hasSize(1));
    assertStaysLost(lease, LeaseEnd.AT_MOST);
    assertThat(next.isValid()).isTrue();
    assertThat(holders(LOCK)).hasSize(1);
    next.close();
    assertNothingLeft(LOCK);
  }

  @Test
  @RerunIfPaused
  void givenAtMost_whenItIsExtended_thenTheHoldLastsLonger() throws Exception {
    Peer a = peer("a");
    Duration most = PauseDetector.stretched(Duration.ofSeconds(1));
    Lease lease = a.client().lock(LOCK, LockOptions.DEFAULTS.withAtMost(most)).acquire();
    lease.extend(Duration.ofSeconds(20));
    assertThat(lease.remaining()).isGreaterThan(most);
    BoundedWait.pass(most.plusMillis(100));
    assertThat(lease.isValid()).isTrue();
    assertThat(peer("b").lock().tryAcquire()).isEmpty();
    lease.close();
    assertThatThrownBy(() -> lease.extend(most)).isInstanceOf(IllegalStateException.class);
    assertNothingLeft(LOCK);
  }

  @Test
  @RerunIfPaused
  void givenAtLeast_whenItIsClosedSooner_thenTheLockOpensOnlyThen() throws Exception {
    needs(Capability.AT_LEAST);
    Peer a = peer("a");
    Peer b = peer("b");
    Duration least = PauseDetector.stretched(Duration.ofMillis(700));
    long began = System.nanoTime();
    a.client().lock(LOCK, LockOptions.DEFAULTS.withAtLeast(least)).acquire().close();
    assertThat(b.lock().tryAcquire()).isEmpty();
    Lease next = b.lock().acquireWithin(LONG);
    assertThat(elapsed(began)).isBetween(least, BoundedWait.scaled(LONG));
    next.close();
    assertNothingLeft(LOCK);
  }

  @Test
  void givenAtLeast_whenTheHolderTakesItBack_thenTheLockOpensWithTheRelease() throws Exception {
    needs(Capability.AT_LEAST);
    Peer a = peer("a");
    Peer b = peer("b");
    Lease lease = a.client().lock(LOCK, LockOptions.DEFAULTS.withAtLeast(LONG)).acquire();
    lease.keepShut(Duration.ofMillis(1));
    lease.close();
    awaitFree(b.lock());
    Lease plain = a.lock().acquireWithin(LONG);
    plain.keepShut(LONG);
    plain.close();
    assertThat(b.lock().tryAcquire()).isEmpty();
    assertThatThrownBy(() -> plain.keepShut(LONG)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void givenOptionThatTheStoreCannotKeep_thenEachWayToAcquireRefusesIt_andNothingIsHeld() {
    LockOptions plain = LockOptions.DEFAULTS;
    Map<LockOptions, Capability> needed =
        Map.of(
            plain.withFair(true), Capability.QUEUE,
            plain.withMaxWaiters(3), Capability.QUEUE,
            plain.withAtLeast(LONG), Capability.AT_LEAST,
            plain.withSticky(BRIEF), Capability.CALL_BACK);
    needed.forEach(
        (options, capability) -> {
          if (!can(capability)) {
            assertRefused(peer("a").client().lock(LOCK, options));
          }
        });
    assertThat(holders(LOCK)).isEmpty();
  }

  private static void assertRefused(DistributedLock lock) {
    assertThatThrownBy(lock::acquire).isInstanceOf(UnsupportedByStoreException.class);
    assertThatThrownBy(() -> lock.acquireWithin(LONG))
        .isInstanceOf(UnsupportedByStoreException.class);
    assertThatThrownBy(() -> lock.tryAcquire(LONG)).isInstanceOf(UnsupportedByStoreException.class);
    assertThatThrownBy(() -> lock.acquireAsync().get(LONG.toSeconds(), TimeUnit.SECONDS))
        .hasCauseInstanceOf(UnsupportedByStoreException.class);
  }

  /** A new option has to be tested on each store above, or to need no support from it. */
  @Test
  void givenOptions_thenThereAreNoOthers() {
    assertThat(
            Arrays.stream(LockOptions.class.getMethods())
                .map(Method::getName)
                .filter(name -> name.startsWith("with")))
        .containsExactlyInAnyOrder(
            "withFair",
            "withMaxWaiters",
            "withAtMost",
            "withAtLeast",
            "withSticky",
            // Concerns this process only.
            "withReleaseAsync",
            // Shown where the store keeps it.
            "withLabel");
  }

  @Test
  @RerunIfPaused
  void givenTaskThatRunsUnderTheLease_whenItIsLost_thenTheTaskIsInterrupted() throws Exception {
    Peer a = peer("a");
    Duration most = PauseDetector.stretched(Duration.ofMillis(500));
    Lease lease = a.client().lock(LOCK, LockOptions.DEFAULTS.withAtMost(most)).acquire();
    CountDownLatch never = new CountDownLatch(1);
    assertThatThrownBy(() -> lease.run(() -> never.await(20, TimeUnit.SECONDS)))
        .isInstanceOf(LeaseLostException.class);
    assertThat(Thread.interrupted()).as("the interrupt stays inside").isFalse();
    assertThatThrownBy(() -> lease.run(() -> 1)).isInstanceOf(LeaseLostException.class);
    assertThat(lease.releaseAsync())
        .failsWithin(LONG)
        .withThrowableOfType(ExecutionException.class)
        .withCauseInstanceOf(LeaseLostException.class);
    assertStaysLost(lease, LeaseEnd.AT_MOST);
  }

  @Test
  void givenInterruptedThread_whenItReleases_thenTheLocksAreFree_andTheFlagIsKept()
      throws Exception {
    Peer a = peer("a");
    Peer b = peer("b");
    Lease lease = a.lock().acquire();
    GroupLease group = a.client().allOf("one", "two").acquire();
    Thread.currentThread().interrupt();
    lease.close();
    group.close();
    assertThat(Thread.interrupted()).isTrue();
    b.lock().acquireWithin(LONG).close();
    b.client().allOf("one", "two").acquireWithin(LONG).close();
  }

  @Test
  void givenListener_whenTheLeaseIsClosed_thenItIsNotCalled_andWhenItIsLostAlreadyThenAtOnce()
      throws Exception {
    Peer a = peer("a");
    RecordingConsumer<LeaseLostException> told = new RecordingConsumer<>();
    Lease closed = a.lock().acquire();
    closed.onLost(told);
    closed.close();
    Lease lost =
        a.client().lock("other", LockOptions.DEFAULTS.withAtMost(Duration.ofMillis(500))).acquire();
    BoundedWait.until(LONG, "the lease was lost", () -> lost.state() == Lease.State.LOST);
    RecordingConsumer<LeaseLostException> late = new RecordingConsumer<>();
    lost.onLost(late);
    assertThat(late.await(1)).hasSize(1);
    assertThat(told.all()).isEmpty();
    assertThatThrownBy(lost::close).isInstanceOf(LeaseLostException.class);
  }

  @Test
  void givenClientThatIsClosed_thenItsLeasesAreLostFirst_andItsLocksAreFree() throws Exception {
    Peer a = peer("a");
    Peer b = peer("b");
    RecordingConsumer<LeaseLostException> told = new RecordingConsumer<>();
    Lease lease = a.lock().acquire();
    lease.onLost(told);
    a.client().close();
    assertThat(told.await(1)).hasSize(1);
    assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
    assertStaysLost(lease, LeaseEnd.CLIENT_CLOSED);
    assertThat(isFree(b.lock())).isTrue();
    assertThatThrownBy(() -> a.client().lock(LOCK)).isInstanceOf(IllegalStateException.class);
    assertThatCode(a.client()::close).doesNotThrowAnyException();
  }

  @Test
  void givenWaiter_whenItsClientIsClosed_thenItsWaitEnds() throws Exception {
    Peer a = peer("a");
    Peer b = peer("b");
    Lease lease = a.lock().acquire();
    Future<Lease> waiting = acquiring(b.lock());
    if (can(Capability.QUEUE)) {
      awaitWaiters(LOCK, 1);
    }
    b.client().close();
    assertThat(failure(waiting)).isInstanceOf(RuntimeException.class);
    BoundedWait.until(LONG, "the waiter left the queue", () -> waiters(LOCK).isEmpty());
    lease.close();
  }
}
