package io.mortise.internal.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockOptions;
import io.mortise.spi.time.Ticker;
import io.mortise.spi.time.WallClock;
import io.mortise.support.liveness.ForwardingStore;
import io.mortise.support.memory.MemStore;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WaiterWakeUpTest {
  private final CountDownLatch lingers = new CountDownLatch(1);
  private final CountDownLatch released = new CountDownLatch(1);

  /** A store that lets waiting threads work for it, so that they park for other reasons. */
  private final class CallerDrivenStore extends ForwardingStore {
    private final Thread holder = Thread.currentThread();

    CallerDrivenStore() {
      super(new MemStore(Ticker.SYSTEM, WallClock.SYSTEM));
    }

    @Override
    public void helpWhileWaiting(BooleanSupplier done, Duration longest) {
      if (Thread.currentThread() != holder) {
        lingers.countDown();
        try {
          released.await();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
        // Uses up a pending wake-up.
        LockSupport.parkNanos(1_000_000);
      }
    }
  }

  @Test
  void givenWaiterThatParksElsewhere_whenTheLockIsPassedToIt_thenItComes() throws Exception {
    try (EngineClient client = TestClient.on(new CallerDrivenStore())) {
      Lease first = client.lock("passed").acquire();
      CompletableFuture<Lease> second =
          CompletableFuture.supplyAsync(
              () -> ((EngineLock) client.lock("passed")).acquireUninterruptibly());
      assertThat(lingers.await(10, TimeUnit.SECONDS)).isTrue();
      first.close();
      released.countDown();

      second.get(10, TimeUnit.SECONDS).close();
    }
  }

  @Test
  void givenFairWaiterBehindOneThatIsNot_whenTheLockIsPassed_thenNobodyPassesThem()
      throws Exception {
    try (EngineClient client = TestClient.on(new MemStore(Ticker.SYSTEM, WallClock.SYSTEM))) {
      for (int i = 0; i < 200; i++) {
        Lease first = client.lock("mixed").acquire();
        CompletableFuture<Lease> second = waiting(client, LockOptions.DEFAULTS, 1);
        CompletableFuture<Lease> third = waiting(client, LockOptions.DEFAULTS.withFair(true), 2);
        first.close();
        Optional<Lease> passer = client.lock("mixed").tryAcquire();

        assertThat(passer).as("try %s", i).isEmpty();
        second.get(10, TimeUnit.SECONDS).close();
        third.get(10, TimeUnit.SECONDS).close();
      }
    }
  }

  /** Starts a waiter, and waits until it is the last of so many. */
  private static CompletableFuture<Lease> waiting(
      EngineClient client, LockOptions options, int place) {
    EngineLock lock = (EngineLock) client.lock("mixed", options);
    CompletableFuture<Lease> lease = new CompletableFuture<>();
    Thread thread = new Thread(() -> lease.complete(lock.acquireUninterruptibly()));
    thread.start();
    // A thread may wait for other things before it is in the queue.
    while (thread.getState() != Thread.State.WAITING
        || client.admin().localWaits().waits().size() != place) {
      Thread.onSpinWait();
    }
    return lease;
  }
}
