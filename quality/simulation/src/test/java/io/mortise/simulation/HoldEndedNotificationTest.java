package io.mortise.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.mortise.Lease;
import io.mortise.admin.Eviction;
import io.mortise.internal.client.EngineClient;
import io.mortise.internal.runtime.EngineRules;
import io.mortise.spi.Renewal;
import io.mortise.spi.SessionNotification;
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
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** A renewal extends no lease until it has reported all ended holds. */
class HoldEndedNotificationTest {
  private static final Duration TTL = Duration.ofMillis(1_500);

  /** More than one renewal can report. */
  private static final int LOCKS = 100;

  private MemStore table = new MemStore(Ticker.SYSTEM, WallClock.SYSTEM);

  @Test
  @RerunIfPaused
  void givenMoreEvictionsThanOneRenewalTells_whenTheNextFails_thenNoLeaseOutlivesItsHold()
      throws Exception {
    assertThat(isBelievedWhenAnotherHolds(EngineRules.ALL)).isFalse();
  }

  @Test
  @RerunIfPaused
  void givenEngineWithoutThatRule_thenTheTestNotices() throws Exception {
    EngineRules hasty =
        new EngineRules() {
          @Override
          public boolean appliesEndedHoldsFirst() {
            return false;
          }
        };
    assertThat(isBelievedWhenAnotherHolds(hasty)).isTrue();
  }

  private boolean isBelievedWhenAnotherHolds(EngineRules rules) throws Exception {
    table = new MemStore(Ticker.SYSTEM, WallClock.SYSTEM);
    MutedStore mutedStore = new MutedStore();
    try (EngineClient holder = InterceptingStore.client(mutedStore, "holder", TTL, rules);
        EngineClient other = InterceptingStore.client(table, "other", TTL, EngineRules.ALL)) {
      Lease last = null;
      for (int i = 0; i < LOCKS; i++) {
        last = holder.lock("n" + i).acquire();
      }
      int before = mutedStore.renewals.get();
      await().atMost(TTL).until(() -> mutedStore.renewals.get() > before);
      mutedStore.left.set(1);
      for (int i = 0; i < LOCKS; i++) {
        String attempt = other.admin().find("n" + i).orElseThrow().holders().get(0).attempt();
        other.admin().evict("n" + i, attempt, Eviction.CLOSE);
      }

      Lease next = other.lock("n" + (LOCKS - 1)).acquire();

      boolean believed = last.isValid();
      next.close();
      return believed;
    }
  }

  /** The table without pushes, whose renewals can be cut off. */
  private final class MutedStore extends InterceptingStore {
    final AtomicInteger renewals = new AtomicInteger();
    final AtomicInteger left = new AtomicInteger(Integer.MAX_VALUE);

    MutedStore() {
      super(table);
    }

    @Override
    void hint(Consumer<SessionNotification> hints, SessionNotification sessionNotification) {}

    @Override
    CompletionStage<Renewal> renew(
        StoreSession session, long previous, long next, List<Long> seen) {
      renewals.incrementAndGet();
      if (left.getAndDecrement() <= 0) {
        return CompletableFuture.completedFuture(
            new Renewal.Unknown(new IllegalStateException("cut off")));
      }
      return super.renew(session, previous, next, seen);
    }
  }
}
