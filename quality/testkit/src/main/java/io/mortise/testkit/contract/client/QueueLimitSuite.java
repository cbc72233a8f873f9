package io.mortise.testkit.contract.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.DistributedLock;
import io.mortise.Lease;
import io.mortise.LockOptions;
import io.mortise.LockTimeoutException;
import io.mortise.UnsupportedByStoreException;
import io.mortise.event.LockListener.AcquireEnded;
import io.mortise.event.LockListener.AcquireOutcome;
import io.mortise.spi.Capability;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.StoreLink;
import io.mortise.testkit.StoreUnderTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** Acquires with a limit on the number of waiters. */
class QueueLimitSuite extends ClientSuite {
  QueueLimitSuite(StoreUnderTest under) {
    super(under);
  }

  private static DistributedLock limited(Peer process, int most) {
    return process.lock().with(LockOptions.DEFAULTS.withMaxWaiters(most));
  }

  private static void assertRefused(DistributedLock lock, int waiting) {
    assertThatThrownBy(() -> lock.acquireWithin(LONG))
        .isInstanceOfSatisfying(
            LockTimeoutException.class, full -> assertThat(full.waiting()).hasValue(waiting))
        .hasMessageContaining("'" + LOCK + "'")
        .hasMessageContaining(waiting + " wait already");
  }

  @Test
  void givenFreeLock_thenALimitOfNoWaitersDoesNotRefuseIt() throws Exception {
    needs(Capability.QUEUE);
    DistributedLock lock = limited(peer("a"), 0);
    lock.acquire().close();
    lock.acquireWithin(LONG).close();
    get(lock.acquireAsync()).close();
    assertThat(lock.tryAcquire(LONG)).get().satisfies(Lease::close);
    assertNothingLeft(LOCK);
  }

  @Test
  void givenIdleGrantOfThisProcess_thenALimitOfNoWaitersDoesNotRefuseIt() throws Exception {
    needs(Capability.QUEUE, Capability.CALL_BACK);
    Peer peer = peer("a");
    LockOptions sticky = LockOptions.DEFAULTS.withSticky(Duration.ofSeconds(10));
    for (DistributedLock lock :
        List.of(peer.lock().with(sticky.withMaxWaiters(0)), limited(peer, 0))) {
      peer.lock().with(sticky).acquire().close();
      assertThat(lock.tryAcquire(LONG)).get().satisfies(Lease::close);
    }
  }

  @Test
  void givenWaitersOfOtherProcesses_thenOneTooManyIsRefusedAtOnce_andTheOthersAreServed()
      throws Exception {
    needs(Capability.QUEUE);
    Lease lease = peer("holder").lock().acquire();
    List<Future<Lease>> waits = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      waits.add(acquiring(limited(peer("p" + i), 2)));
      awaitWaiters(LOCK, i + 1);
    }
    Peer late = peer("late");
    assertRefused(limited(late, 2), 2);
    assertThat(limited(late, 1).tryAcquire(LONG)).isEqualTo(Optional.empty());
    assertThat(failure(limited(late, 0).acquireAsync()))
        .isInstanceOfSatisfying(
            LockTimeoutException.class, full -> assertThat(full.waiting()).hasValue(2));
    BoundedWait.until(LONG, "the refused have left", () -> waiters(LOCK).size() == 2);
    assertThatThrownBy(() -> late.lock().acquireWithin(BRIEF))
        .isInstanceOfSatisfying(
            LockTimeoutException.class, timeout -> assertThat(timeout.waiting()).isEmpty());
    BoundedWait.until(LONG, "it has left", () -> waiters(LOCK).size() == 2);
    Future<Lease> third = acquiring(limited(late, 3));
    awaitWaiters(LOCK, 3);
    lease.close();
    for (Future<Lease> wait : waits) {
      get(wait).close();
    }
    get(third).close();
    assertNothingLeft(LOCK);
  }

  @Test
  void givenWaiterThatHasLeft_thenItNoLongerCounts() throws Exception {
    needs(Capability.QUEUE);
    Lease lease = peer("holder").lock().acquire();
    CompletableFuture<Lease> first = peer("first").lock().acquireAsync();
    awaitWaiters(LOCK, 1);
    CompletableFuture<Lease> second = peer("second").lock().acquireAsync();
    awaitWaiters(LOCK, 2);
    Peer third = peer("third");
    assertRefused(limited(third, 2), 2);
    BoundedWait.until(LONG, "the refused has left", () -> waiters(LOCK).size() == 2);
    assertThat(second.cancel(true)).isTrue();
    awaitWaiters(LOCK, 1);
    Future<Lease> admitted = acquiring(limited(third, 2));
    awaitWaiters(LOCK, 2);
    lease.close();
    get(first).close();
    get(admitted).close();
    assertNothingLeft(LOCK);
  }

  @Test
  void givenWaitingThreadsOfThisProcess_thenOneTooManyIsRefusedWithoutARequest() throws Exception {
    needs(Capability.QUEUE);
    Peer process = peer("a");
    DistributedLock lock = limited(process, 1);
    Lease lease = lock.acquire();
    CompletableFuture<Lease> waits = lock.acquireAsync();
    process.link().set(StoreLink.LinkState.CUT);
    assertRefused(lock, 1);
    assertThat(failure(lock.acquireAsync())).isInstanceOf(LockTimeoutException.class);
    process.link().set(StoreLink.LinkState.UP);
    assertThat(waits).isNotDone();
    lease.close();
    get(waits).close();
    assertNothingLeft(LOCK);
  }

  @Test
  void givenThreadsBehindAnAttemptOfTheirProcess_thenThoseOfOthersCountToo() throws Exception {
    needs(Capability.QUEUE);
    Lease lease = peer("holder").lock().acquire();
    CompletableFuture<Lease> other = peer("other").lock().acquireAsync();
    awaitWaiters(LOCK, 1);
    Peer process = peer("a");
    CompletableFuture<Lease> head = limited(process, 2).acquireAsync();
    awaitWaiters(LOCK, 2);
    assertRefused(limited(process, 2), 2);
    CompletableFuture<Lease> behind = limited(process, 3).acquireAsync();
    assertThat(behind).isNotDone();
    assertThat(other.cancel(true)).isTrue();
    awaitWaiters(LOCK, 1);
    lease.close();
    get(head).close();
    get(behind).close();
    assertNothingLeft(LOCK);
  }

  @Test
  void givenRefusedAcquire_thenTheListenerHearsThatTheQueueWasFull() throws Exception {
    needs(Capability.QUEUE);
    RecordingListener told = new RecordingListener();
    Peer process = peer("watched", peerTtl(), told);
    Lease lease = peer("holder").lock().acquire();
    assertRefused(limited(process, 0), 0);
    AcquireEnded ended = told.await(AcquireEnded.class, 1).get(0);
    assertThat(ended.outcome()).isEqualTo(AcquireOutcome.QUEUE_FULL);
    assertThat(ended.reason()).contains("0 wait already");
    lease.close();
    assertNothingLeft(LOCK);
  }

  @Test
  void givenStoreWithoutQueue_thenALimitIsRefusedByName() {
    Assumptions.assumeFalse(can(Capability.QUEUE), "the store has a queue");
    DistributedLock lock = limited(peer("a"), 3);
    assertThatThrownBy(lock::acquire)
        .isInstanceOf(UnsupportedByStoreException.class)
        .hasMessageContaining("withMaxWaiters");
    assertThat(lock.tryAcquire()).get().satisfies(Lease::close);
    assertNothingLeft(LOCK);
  }
}
