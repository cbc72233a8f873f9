package io.mortise.simulation;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.DistributedLock;
import io.mortise.StoreUnfitException;
import io.mortise.internal.client.EngineClient;
import io.mortise.internal.runtime.EngineRules;
import io.mortise.spi.Renewal;
import io.mortise.spi.StoreSession;
import io.mortise.spi.time.Ticker;
import io.mortise.spi.time.WallClock;
import io.mortise.support.memory.MemStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A store that can open no session, where retries do not help. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class UnfitStoreTest {
  private static final String WHY = "The server allows sessions of 10 s at most. Give a TTL below.";

  @Test
  void givenStoreThatIsUnfit_whenALockIsWanted_thenEveryFormSaysSoAtOnce() {
    InterceptingStore unfit =
        new InterceptingStore(new MemStore(Ticker.SYSTEM, WallClock.SYSTEM)) {
          @Override
          CompletionStage<Renewal> renew(
              StoreSession session, long previous, long next, List<Long> seen) {
            return CompletableFuture.completedFuture(
                new Renewal.Unknown(new IllegalStateException(new StoreUnfitException(WHY))));
          }
        };
    try (EngineClient client =
        InterceptingStore.client(unfit, "a", Duration.ofSeconds(15), EngineRules.ALL)) {
      DistributedLock lock = client.lock("n");
      assertUnfit(lock::acquire);
      assertUnfit(lock::tryAcquire);
      assertUnfit(() -> lock.acquireWithin(Duration.ofMinutes(5)));
      assertUnfit(() -> lock.tryAcquire(Duration.ofMinutes(5)));
      assertUnfit(() -> lock.asJavaLock().lock());
      assertThatThrownBy(() -> lock.acquireAsync().join())
          .hasCauseInstanceOf(StoreUnfitException.class);
    }
  }

  private static void assertUnfit(ThrowingCallable call) {
    assertThatThrownBy(call).isInstanceOf(StoreUnfitException.class).hasMessage(WHY);
  }
}
