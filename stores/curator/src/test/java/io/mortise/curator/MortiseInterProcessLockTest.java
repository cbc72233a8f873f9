package io.mortise.curator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.LockClient;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.junit.jupiter.api.Test;

/** Code for Curator's interface runs on a lock of ours, whatever the store. */
@SuppressWarnings("try") // Closing may be interrupted.
class MortiseInterProcessLockTest {
  @Test
  void givenLockInPlaceOfAMutex_thenItIsReentrant_ownedByItsThread_andExcludesOthers()
      throws Exception {
    try (LockClient client = LockClient.connect("mem:");
        MixedFleet mixedFleet = new MixedFleet()) {
      InterProcessLock lock = MortiseInterProcessLock.over(client.lock("a"));
      InterProcessLock other = MortiseInterProcessLock.over(client.lock("a"));
      assertThat(lock.isAcquiredInThisProcess()).isFalse();
      lock.acquire();
      assertThat(lock.acquire(1, TimeUnit.SECONDS)).isTrue();
      assertThat(MixedFleet.get(mixedFleet.start(() -> other.acquire(50, TimeUnit.MILLISECONDS))))
          .isFalse();
      assertThat(MixedFleet.get(mixedFleet.start(() -> lock.acquire(-1, TimeUnit.MILLISECONDS))))
          .isFalse();
      lock.release();
      assertThat(lock.isAcquiredInThisProcess()).isTrue();
      assertThat(((MortiseInterProcessLock) lock).lease()).isPresent();
      lock.release();
      assertThat(lock.isAcquiredInThisProcess()).isFalse();
      assertThatThrownBy(lock::release).isInstanceOf(IllegalMonitorStateException.class);
      assertThat(other.acquire(1, TimeUnit.SECONDS)).isTrue();
      other.release();
    }
  }
}
