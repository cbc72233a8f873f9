package io.mortise.testkit.contract.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.JavaLock;
import io.mortise.JavaLock.LeaseLostMonitorException;
import io.mortise.Lease;
import io.mortise.admin.Eviction;
import io.mortise.spi.Capability;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.StoreUnderTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The thread-owned view, as {@code java.util.concurrent} specifies it. */
@SuppressWarnings("LockNotBeforeTry") // a test that fails closes the client
class JavaLockSuite extends ClientSuite {
  JavaLockSuite(StoreUnderTest under) {
    super(under);
  }

  @Test
  void givenHolder_whenItLocksAgain_thenItCounts_withoutIo_andOneReleaseAtZeroFreesTheLock() {
    Peer a = peer("a");
    Peer b = peer("b");
    JavaLock lock = a.lock().asJavaLock();
    lock.lock();
    long sent = a.link().requests();
    lock.lock();
    assertThat(lock.tryLock()).isTrue();
    assertThat(lock.getHoldCount()).isEqualTo(3);
    assertThat(lock.isHeldByCurrentThread()).isTrue();
    assertThat(lock.isLocked()).isTrue();
    lock.unlock();
    lock.unlock();
    assertThat(lock.getHoldCount()).isEqualTo(1);
    assertThat(a.link().requests()).as("re-entry costs no I/O").isEqualTo(sent);
    assertThat(b.lock().tryAcquire()).isEmpty();
    lock.unlock();
    assertThat(lock.getHoldCount()).isZero();
    assertThat(lock.isLocked()).isFalse();
    assertThat(isFree(b.lock())).isTrue();
  }

  @Test
  @Tag("tokens-rise")
  void givenReentry_thenTheTokenStaysTheSame_andTheNextHoldsIsGreater() {
    needs(Capability.TOKEN);
    JavaLock lock = peer("a").lock().asJavaLock();
    assertThat(lock.lease()).isEmpty();
    lock.lock();
    long token = lock.lease().orElseThrow().token();
    lock.lock();
    assertThat(lock.lease().orElseThrow().token()).isEqualTo(token);
    lock.unlock();
    lock.unlock();
    assertThat(lock.lease()).isEmpty();
    lock.lock();
    assertThat(lock.lease().orElseThrow().token()).isGreaterThan(token);
    lock.unlock();
  }

  @Test
  void givenThreadThatDoesNotHold_whenItUnlocks_thenItIsRefused_andNothingChanges() {
    Peer a = peer("a");
    JavaLock lock = a.lock().asJavaLock();
    assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
    lock.lock();
    assertThat(failure(start(() -> unlock(lock)))).isInstanceOf(IllegalMonitorStateException.class);
    assertThat(holders(LOCK)).hasSize(1);
    assertThat(lock.getHoldCount()).isEqualTo(1);
    lock.unlock();
    assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
    assertNothingLeft(LOCK);
  }

  private static boolean unlock(Lock lock) {
    lock.unlock();
    return true;
  }

  @Test
  void givenHolder_whenAnotherThreadTries_thenItFails_andAfterUnlockSucceeds() throws Exception {
    Peer a = peer("a");
    JavaLock lock = a.lock().asJavaLock();
    lock.lock();
    assertThat(get(start(() -> lock.tryLock()))).isFalse();
    assertThat(get(start(() -> lock.tryLock(0, TimeUnit.SECONDS)))).isFalse();
    assertThat(get(start(() -> lock.tryLock(-1, TimeUnit.SECONDS)))).isFalse();
    long began = System.nanoTime();
    assertThat(get(start(() -> lock.tryLock(200, TimeUnit.MILLISECONDS)))).isFalse();
    assertThat(elapsed(began)).isBetween(Duration.ofMillis(195), BoundedWait.scaled(LONG));
    Future<Boolean> waiting = start(() -> lock.tryLock(20, TimeUnit.SECONDS) && unlock(lock));
    lock.unlock();
    assertThat(get(waiting)).isTrue();
    assertNothingLeft(LOCK);
  }

  @Test
  void givenWaitingThread_whenItIsInterrupted_thenInterruptiblyStops_andPlainLockGoesOn() {
    Peer a = peer("a");
    JavaLock lock = a.lock().asJavaLock();
    lock.lock();
    List<Thread> threads = Collections.synchronizedList(new ArrayList<>());
    Future<Boolean> stops =
        start(
            () -> {
              threads.add(Thread.currentThread());
              lock.lockInterruptibly();
              return unlock(lock);
            });
    Future<Boolean> timed =
        start(
            () -> {
              threads.add(Thread.currentThread());
              return lock.tryLock(20, TimeUnit.SECONDS);
            });
    AtomicReference<@Nullable Thread> stubborn = new AtomicReference<>();
    Future<Boolean> goesOn =
        start(
            () -> {
              stubborn.set(Thread.currentThread());
              lock.lock();
              boolean flag = Thread.interrupted();
              lock.unlock();
              return flag;
            });
    BoundedWait.until(LONG, "all wait", () -> threads.size() == 2 && stubborn.get() != null);
    BoundedWait.pass(Duration.ofMillis(100));
    threads.forEach(Thread::interrupt);
    Thread thread = stubborn.get();
    if (thread != null) {
      thread.interrupt();
    }
    assertThat(failure(stops)).isInstanceOf(InterruptedException.class);
    assertThat(failure(timed)).isInstanceOf(InterruptedException.class);
    BoundedWait.pass(Duration.ofMillis(100));
    assertThat(goesOn).isNotDone();
    lock.unlock();
    assertThat(get(goesOn)).as("the flag is restored").isTrue();
    assertNothingLeft(LOCK);
  }

  @Test
  void givenInterruptedThread_whenItLocksInterruptibly_thenItIsRefusedAtOnce() {
    Peer a = peer("a");
    JavaLock lock = a.lock().asJavaLock();
    Future<Boolean> refused =
        start(
            () -> {
              Thread.currentThread().interrupt();
              lock.lockInterruptibly();
              return unlock(lock);
            });
    assertThat(failure(refused)).isInstanceOf(InterruptedException.class);
    assertThat(holders(LOCK)).isEmpty();
  }

  @Test
  void givenTwoViewsOfOneName_thenTheyAreTwoOwnersOfOneLock() {
    Peer a = peer("a");
    JavaLock one = a.lock().asJavaLock();
    JavaLock two = a.lock().asJavaLock();
    one.lock();
    assertThat(get(start(() -> two.tryLock()))).isFalse();
    assertThat(two.getHoldCount()).isZero();
    one.unlock();
  }

  @Test
  void givenLock_thenItHasNoConditions() {
    assertThatThrownBy(() -> peer("a").lock().asJavaLock().newCondition())
        .isInstanceOf(UnsupportedOperationException.class);
  }

  @Test
  void givenHoldThatWasLost_whenItIsUnlocked_thenTheOwnerIsToldSo_andCanLockAnew() {
    needs(Capability.EVICT);
    Peer a = peer("a");
    JavaLock lock = a.lock().asJavaLock();
    lock.lock();
    String attempt = holders(LOCK).get(0).attempt();
    a.client().admin().evict(LOCK, attempt, Eviction.BREAK);
    Lease lease = lock.lease().orElseThrow();
    BoundedWait.until(LONG, "the loss was told", () -> lease.state() == Lease.State.LOST);
    assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostMonitorException.class);
    assertThat(lock.getHoldCount()).isZero();
    lock.lock();
    assertThat(lock.getHoldCount()).isEqualTo(1);
    lock.unlock();
    assertNothingLeft(LOCK);
  }
}
