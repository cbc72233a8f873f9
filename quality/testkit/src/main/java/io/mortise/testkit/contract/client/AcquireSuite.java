package io.mortise.testkit.contract.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LockTimeoutException;
import io.mortise.spi.Capability;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.StoreUnderTest;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Every form of acquire. No end of a wait leaves anything behind. */
class AcquireSuite extends ClientSuite {
  AcquireSuite(StoreUnderTest under) {
    super(under);
  }

  @Test
  @Tag("exclusion")
  void givenHolder_whenAnotherProcessTries_thenItGetsNothing_untilTheHolderCloses()
      throws Exception {
    Peer a = peer("a");
    Peer b = peer("b");
    Lease lease = a.lock().acquire();

    assertThat(b.lock().tryAcquire()).isEmpty();
    assertThat(b.lock().tryAcquire(Duration.ZERO)).isEmpty();
    assertThat(b.lock().tryAcquire(BRIEF)).isEmpty();
    assertThat(a.lock().tryAcquire()).isEmpty();
    lease.close();

    Lease next = b.lock().tryAcquire().orElseThrow();
    next.close();
    assertNothingLeft(LOCK);
  }

  @Test
  void givenHolder_whenAnotherWaitsWithALimit_thenTheWaitEndsOnTime_andLeavesNothing()
      throws Exception {
    Peer a = peer("a");
    Peer b = peer("b");
    Lease lease = a.lock().acquire();
    long began = System.nanoTime();

    assertThatThrownBy(() -> b.lock().acquireWithin(Duration.ofMillis(300)))
        .isInstanceOf(LockTimeoutException.class)
        .hasMessageContaining("'" + LOCK + "'")
        .hasMessageContaining("300");

    assertThat(elapsed(began)).isBetween(Duration.ofMillis(295), BoundedWait.scaled(LONG));
    BoundedWait.until(LONG, "the waiter left the queue", () -> waiters(LOCK).isEmpty());
    assertThat(holders(LOCK)).hasSize(1);
    lease.close();
    assertNothingLeft(LOCK);
  }

  @Test
  void givenWaiter_whenTheHolderReleases_thenItHoldsSoonAfter() throws Exception {
    Peer a = peer("a");
    Peer b = peer("b");
    Lease lease = a.lock().acquire();
    Future<Lease> waiting = acquiring(b.lock());
    if (can(Capability.QUEUE)) {
      awaitWaiters(LOCK, 1);
    }
    lease.close();
    Lease next = get(waiting);
    assertThat(next.isValid()).isTrue();
    next.close();
    assertNothingLeft(LOCK);
  }

  @Test
  void givenThreadsOfOneProcess_thenTheyExcludeEachOther_alsoThroughDifferentLockObjects()
      throws Exception {
    Peer a = peer("a");
    Lease lease = a.client().lock(LOCK).acquire();
    assertThat(get(start(() -> a.client().lock(LOCK).tryAcquire()))).isEmpty();
    Future<Lease> waiting = acquiring(a.client().lock(LOCK));
    lease.close();
    get(waiting).close();
    assertNothingLeft(LOCK);
  }

  @Test
  void givenThreadThatHolds_whenItWaitsForTheSameLockWithoutLimit_thenItIsToldInsteadOfHanging()
      throws Exception {
    Peer a = peer("a");
    Lease lease = a.lock().acquire();
    assertThatThrownBy(() -> a.lock().acquire())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("'" + LOCK + "'");
    assertThat(a.lock().tryAcquire(BRIEF)).isEmpty();
    assertThat(lease.isValid()).isTrue();
    lease.close();
    assertNothingLeft(LOCK);
  }

  @Test
  void givenInterruptedThread_whenItAcquires_thenItIsRefusedBeforeAnythingIsSent()
      throws Exception {
    Peer a = peer("a");
    Future<Throwable> caught =
        start(
            () -> {
              Thread.currentThread().interrupt();
              try {
                a.lock().acquireWithin(LONG).close();
                return new AssertionError("was granted");
              } catch (InterruptedException e) {
                return e;
              }
            });
    assertThat(get(caught)).isInstanceOf(InterruptedException.class);
    assertThat(a.link().requests()).isZero();
  }

  @Test
  @Tag("cancelled-waiter-leaves-no-trace")
  void givenWaiter_whenItIsInterrupted_thenItStopsAtOnce_andLeavesNothing() throws Exception {
    Peer a = peer("a");
    Peer b = peer("b");
    Lease lease = a.lock().acquire();
    AtomicReference<@Nullable Thread> waiter = new AtomicReference<>();
    Future<Lease> waiting =
        start(
            () -> {
              waiter.set(Thread.currentThread());
              return b.lock().acquire();
            });
    if (can(Capability.QUEUE)) {
      awaitWaiters(LOCK, 1);
    }
    BoundedWait.until(LONG, "the thread waits", () -> isWaiting(waiter.get()));
    Thread thread = waiter.get();
    if (thread != null) {
      thread.interrupt();
    }
    assertThat(failure(waiting)).isInstanceOf(InterruptedException.class);
    BoundedWait.until(LONG, "the waiter left the queue", () -> waiters(LOCK).isEmpty());
    lease.close();
    assertNothingLeft(LOCK);
    assertThat(isFree(a.lock())).isTrue();
  }

  @Test
  void givenAsynchronousAcquire_thenItCompletesWithoutBlocking() throws Exception {
    Peer a = peer("a");
    Peer b = peer("b");
    Lease lease = get(a.lock().acquireAsync());
    CompletableFuture<Lease> waiting = b.lock().acquireAsync();
    assertThat(waiting).isNotDone();
    lease.close();
    get(waiting).close();
    assertNothingLeft(LOCK);
  }

  @Test
  @Tag("cancelled-waiter-leaves-no-trace")
  void givenAsynchronousAcquire_whenCancelled_thenNothingIsLeft() throws Exception {
    Peer a = peer("a");
    Peer b = peer("b");
    Lease lease = a.lock().acquire();
    CompletableFuture<Lease> waiting = b.lock().acquireAsync();
    if (can(Capability.QUEUE)) {
      awaitWaiters(LOCK, 1);
    }
    assertThat(waiting.cancel(true)).isTrue();
    BoundedWait.until(LONG, "the waiter left the queue", () -> waiters(LOCK).isEmpty());
    lease.close();
    assertNothingLeft(LOCK);
    assertThat(isFree(a.lock())).isTrue();
  }

  @Test
  void givenAsynchronousAcquireWithALimit_thenItEndsOnTime_andLeavesNothing() throws Exception {
    Peer a = peer("a");
    Peer b = peer("b");
    Lease lease = a.lock().acquire();
    assertThat(failure(b.lock().acquireAsync(BRIEF))).isInstanceOf(LockTimeoutException.class);
    BoundedWait.until(LONG, "the waiter left the queue", () -> waiters(LOCK).isEmpty());
    lease.close();
    assertNothingLeft(LOCK);
  }

  @Test
  void givenTask_thenTheLockIsHeldWhileItRuns_andFreeAfterwards_howeverItEnds() throws Exception {
    Peer a = peer("a");
    Peer b = peer("b");
    assertThat(a.lock().withLock(() -> b.lock().tryAcquire())).isEmpty();
    assertThat(isFree(b.lock())).isTrue();
    assertThatThrownBy(
            () ->
                a.lock()
                    .withLock(
                        () -> {
                          throw new IOException("of the task");
                        }))
        .isInstanceOf(IOException.class)
        .hasMessage("of the task");
    assertThat(isFree(b.lock())).isTrue();
  }

  @Test
  void givenAsynchronousTask_thenTheLockIsHeldUntilItsStageCompletes() {
    Peer a = peer("a");
    Peer b = peer("b");
    CompletableFuture<String> work = new CompletableFuture<>();
    CompletableFuture<String> all = a.lock().withLockAsync(lease -> work);
    BoundedWait.until(LONG, "the lock was held", () -> !holders(LOCK).isEmpty());
    assertThat(b.lock().tryAcquire()).isEmpty();
    work.complete("done");
    assertThat(get(all)).isEqualTo("done");
    assertThat(isFree(b.lock())).isTrue();

    CompletableFuture<String> failed =
        a.lock().withLockAsync(lease -> CompletableFuture.failedFuture(new RuntimeException("no")));
    assertThat(failure(failed)).hasMessage("no");
    assertThat(isFree(b.lock())).isTrue();
  }

  @Test
  void givenImpossibleArguments_thenTheyAreRefusedBeforeAnythingIsSent() {
    Peer a = peer("a");
    assertThatThrownBy(() -> a.client().lock("")).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> a.client().lock("a\nb")).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> a.client().lock("x".repeat(513)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> a.lock().acquireWithin(Duration.ofMillis(-1)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> a.lock().tryAcquire(Duration.ofMillis(-1)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> a.client().semaphore(LOCK, 0))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> a.client().semaphore(LOCK, 3).permits(4))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> a.client().semaphore(LOCK, 3).permits(0))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(a.link().requests()).isZero();
  }
}
