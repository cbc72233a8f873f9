package io.mortise.curator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.DistributedLock;
import io.mortise.DistributedReadWriteLock;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.OuterLocks;
import io.mortise.UnsupportedByStoreException;
import io.mortise.event.LeaseEnd;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A client that also holds the locks of Curator; the test is the process with Curator alone. */
@SuppressWarnings("try") // Leases exist to be held.
class CuratorOuterLocksTest {
  private final MixedFleet mixedFleet = new MixedFleet();
  private final CuratorFramework curator = mixedFleet.curator();

  @AfterEach
  void closeFleet() throws Exception {
    mixedFleet.close();
  }

  private LockClient alsoHolding(OuterLocks outer) {
    return mixedFleet.closedLater(
        LockClient.builder().url("mem:").ttl(Duration.ofSeconds(3)).alsoHolding(outer).build());
  }

  private InterProcessMutex mutex(CuratorFramework client, String name) {
    return new InterProcessMutex(client, mixedFleet.path(name));
  }

  private void endSession() throws Exception {
    ZooKeeper session = curator.getZookeeperClient().getZooKeeper();
    mixedFleet.expire(session.getSessionId(), session.getSessionPasswd());
  }

  private static boolean isFree(InterProcessLock lock) throws Exception {
    boolean free = lock.acquire(0, TimeUnit.SECONDS);
    if (free) {
      lock.release();
    }
    return free;
  }

  @Test
  void givenLostSession_thenTheLeaseIsLost_andTheNextAcquireTakesBothAnew() throws Exception {
    LockClient locks = alsoHolding(CuratorOuterLocks.of(curator, name -> mutex(curator, name)));
    InterProcessMutex old = mutex(mixedFleet.looking(), "a");
    DistributedLock lock = locks.lock("a");
    Lease lease = lock.acquire();
    assertThat(isFree(old)).isFalse();
    CompletableFuture<LeaseLostException> lost = new CompletableFuture<>();
    lease.onLost(lost::complete);
    endSession();
    assertThat(MixedFleet.get(lost).end()).isEqualTo(LeaseEnd.OUTER_LOST);
    assertThat(lease.isValid()).isFalse();
    assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
    try (Lease next = lock.acquireWithin(MixedFleet.LONG)) {
      assertThat(next.isValid()).isTrue();
      assertThat(isFree(old)).isFalse();
    }
    assertThat(isFree(old)).isTrue();
  }

  @Test
  void givenSessionThatIsLostDuringTheAcquire_thenCuratorsLockIsTakenAnew() throws Exception {
    AtomicInteger acquires = new AtomicInteger();
    CountDownLatch reconnected = new CountDownLatch(1);
    curator
        .getConnectionStateListenable()
        .addListener(
            (client, state) -> {
              // One thread calls the listeners, so all of them have been told LOST.
              if (state == ConnectionState.RECONNECTED) {
                reconnected.countDown();
              }
            });
    InterProcessMutex real = mutex(curator, "a");
    InterProcessLock lock =
        new InterProcessLock() {
          @Override
          public void acquire() throws Exception {
            real.acquire();
          }

          @Override
          public boolean acquire(long time, TimeUnit unit) throws Exception {
            boolean acquired = real.acquire(time, unit);
            if (acquires.incrementAndGet() == 1) {
              endSession();
              reconnected.await();
            }
            return acquired;
          }

          @Override
          public void release() throws Exception {
            real.release();
          }

          @Override
          public boolean isAcquiredInThisProcess() {
            return real.isAcquiredInThisProcess();
          }
        };
    LockClient locks = alsoHolding(CuratorOuterLocks.of(curator, name -> lock));
    try (Lease lease = locks.lock("a").acquireWithin(MixedFleet.LONG)) {
      assertThat(acquires).hasValue(2);
      assertThat(isFree(mutex(mixedFleet.looking(), "a"))).isFalse();
    }
  }

  @Test
  void givenReadWriteLocks_thenReadersShare_andWritersOfEitherSideAreAlone() throws Exception {
    InterProcessReadWriteLock old =
        new InterProcessReadWriteLock(mixedFleet.looking(), mixedFleet.path("a"));
    DistributedReadWriteLock lock =
        alsoHolding(
                CuratorOuterLocks.ofReadWriteLocks(
                    curator, name -> new InterProcessReadWriteLock(curator, mixedFleet.path(name))))
            .readWriteLock("a");
    try (Lease reader = lock.readLock().acquire()) {
      assertThat(isFree(old.readLock())).isTrue();
      assertThat(isFree(old.writeLock())).isFalse();
    }
    try (Lease writer = lock.writeLock().acquire()) {
      assertThat(isFree(old.readLock())).isFalse();
    }
    old.readLock().acquire();
    lock.readLock().acquire().close();
    assertThat(lock.writeLock().tryAcquire()).isEmpty();
    old.readLock().release();
    old.writeLock().acquire();
    assertThat(lock.readLock().tryAcquire()).isEmpty();
    old.writeLock().release();
    lock.writeLock().acquireWithin(MixedFleet.LONG).close();
  }

  @Test
  void givenMutexesAlone_thenReadersAreRefused() {
    LockClient locks = alsoHolding(CuratorOuterLocks.of(curator, name -> mutex(curator, name)));
    assertThatThrownBy(() -> locks.readWriteLock("a").readLock().tryAcquire())
        .isInstanceOf(UnsupportedByStoreException.class);
  }
}
