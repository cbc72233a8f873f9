package io.mortise.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.mortise.Lease;
import io.mortise.internal.client.EngineClient;
import io.mortise.internal.runtime.EngineRules;
import io.mortise.spi.Renewal;
import io.mortise.spi.StoreSession;
import io.mortise.spi.time.Ticker;
import io.mortise.spi.time.WallClock;
import io.mortise.support.memory.MemStore;
import io.mortise.testkit.RerunIfPaused;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Two tries of one renewal are in flight; the later is answered first, and renewals continue. */
class StaleRenewalReplyTest {
  private static final Duration TTL = Duration.ofMillis(1_500);

  @Test
  @RerunIfPaused
  void givenTwoTriesThatAreOpen_whenTheFirstIsRefusedAfterTheSecondWasConfirmed_thenNothingIsLost()
      throws Exception {
    assertThat(survives(EngineRules.ALL)).isTrue();
  }

  @Test
  @RerunIfPaused
  void givenEngineWithoutThatRule_thenTheTestNotices() throws Exception {
    EngineRules credulous =
        new EngineRules() {
          @Override
          public boolean ignoresOutdatedLoss() {
            return false;
          }
        };
    assertThat(survives(credulous)).isFalse();
  }

  private static boolean survives(EngineRules rules) throws Exception {
    OvertakingStore overtakingStore =
        new OvertakingStore(new MemStore(Ticker.SYSTEM, WallClock.SYSTEM));
    try (EngineClient client = InterceptingStore.client(overtakingStore, "a", TTL, rules)) {
      Lease lease = client.lock("n").acquire();
      await().atMost(TTL.multipliedBy(3)).until(() -> overtakingStore.confirmedSince.get() >= 2);
      overtakingStore
          .first
          .get()
          .complete(new Renewal.Lost("another process renews the same session"));
      boolean valid = lease.isValid();
      if (valid) {
        lease.close();
      }
      return valid;
    }
  }

  /** Delays the answer to the first try of the second renewal. */
  private static final class OvertakingStore extends InterceptingStore {
    final AtomicReference<CompletableFuture<Renewal>> first = new AtomicReference<>();
    final AtomicInteger confirmedSince = new AtomicInteger();

    OvertakingStore(MemStore table) {
      super(table);
    }

    @Override
    CompletionStage<Renewal> renew(
        StoreSession session, long previous, long next, List<Long> seen) {
      if (previous != 0 && first.compareAndSet(null, new CompletableFuture<>())) {
        return first.get();
      }
      if (first.get() != null) {
        confirmedSince.incrementAndGet();
      }
      return super.renew(session, previous, next, seen);
    }
  }
}
