package io.mortise.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.admin.Eviction;
import io.mortise.admin.LockParticipant;
import io.mortise.event.LeaseEnd;
import io.mortise.internal.client.EngineClient;
import io.mortise.internal.client.TestClient;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import io.mortise.spi.time.Ticker;
import io.mortise.spi.time.WallClock;
import io.mortise.support.liveness.ForwardingSession;
import io.mortise.support.liveness.ForwardingStore;
import io.mortise.support.memory.MemStore;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LeaseReleaseTest {
  private final EngineClient client = TestClient.on(new MemStore(Ticker.SYSTEM, WallClock.SYSTEM));

  @AfterEach
  void close() {
    client.close();
  }

  @Test
  void givenWaitLongerThanAnyClockCounts_whenTheLockIsReleased_thenItIsGranted() throws Exception {
    Lease first = client.lock("long").acquire();
    CompletableFuture<Lease> second =
        client.lock("long").acquireAsync(Duration.ofSeconds(Long.MAX_VALUE));
    first.close();
    second.get(10, TimeUnit.SECONDS).close();
  }

  @Test
  void givenTaskThatThrowsAnError_whenItWasUnderALock_thenTheLockIsReleased() throws Exception {
    CompletableFuture<String> failed =
        client
            .lock("error")
            .withLockAsync(
                lease -> {
                  throw new AssertionError("on purpose");
                });
    assertThatThrownBy(() -> failed.get(10, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(AssertionError.class);
    client.lock("error").acquireWithin(Duration.ofSeconds(10)).close();
  }

  @Test
  void givenScopeThatEndedByAnError_whenTheLeaseIsLostLater_thenItsThreadIsNotInterrupted()
      throws Exception {
    Lease lease = client.lock("scope").acquire();
    assertThatThrownBy(
            () ->
                lease.run(
                    () -> {
                      throw new AssertionError("on purpose");
                    }))
        .isInstanceOf(AssertionError.class);
    CompletableFuture<Void> told = new CompletableFuture<>();
    lease.onLost(loss -> told.complete(null));
    client.close();
    told.get(10, TimeUnit.SECONDS);
    assertThat(Thread.interrupted()).isFalse();
  }

  @Test
  void givenLeaseThatWasClosed_whenItIsAskedForWhatAGuardNeeds_thenItRefuses() throws Exception {
    Lease lease = client.lock("closed").acquire();
    assertThat(lease.fencingToken().value()).isEqualTo(lease.token());
    lease.close();
    assertThatThrownBy(lease::fencingToken)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
  }

  /** A store without pushes: holders learn late of an operator's action. */
  private static final class PushlessStore extends ForwardingStore {
    PushlessStore() {
      super(new MemStore(Ticker.SYSTEM, WallClock.SYSTEM));
    }

    @Override
    public StoreSession open(SessionSpec spec, Consumer<SessionNotification> hints) {
      return super.open(spec, hint -> {});
    }
  }

  @Test
  void givenHoldThatWasEvicted_whenOnlyTheReleaseShowsIt_thenTheLeaseIsLostForEver()
      throws Exception {
    PushlessStore store = new PushlessStore();
    try (EngineClient holder = TestClient.on(store);
        EngineClient operator = TestClient.on(store)) {
      Lease lease = holder.lock("evicted").acquire();
      LockParticipant hold = operator.admin().find("evicted").orElseThrow().holders().get(0);
      operator.admin().evict("evicted", hold.attempt(), Eviction.BREAK);
      assertThat(lease.state()).isEqualTo(Lease.State.HELD);
      assertThatThrownBy(lease::close)
          .isInstanceOfSatisfying(
              LeaseLostException.class, loss -> assertThat(loss.end()).isEqualTo(LeaseEnd.EVICTED));
      assertThat(lease.state()).isEqualTo(Lease.State.LOST);
      assertThatThrownBy(lease::token).isInstanceOf(LeaseLostException.class);
      assertThatThrownBy(lease::ensureValid).isInstanceOf(LeaseLostException.class);
      lease.close();
    }
  }

  /** A store whose sessions take a while to end. */
  private static final class SlowClosingStore extends ForwardingStore {
    final CompletableFuture<Void> ended = new CompletableFuture<>();

    SlowClosingStore() {
      super(new MemStore(Ticker.SYSTEM, WallClock.SYSTEM));
    }

    @Override
    public StoreSession open(SessionSpec spec, Consumer<SessionNotification> hints) {
      return new ForwardingSession(super.open(spec, hints)) {
        @Override
        public CompletionStage<Void> close() {
          return ended.completeOnTimeout(null, 200, TimeUnit.MILLISECONDS);
        }
      };
    }
  }

  @Test
  void givenInterruptedThread_whenItClosesTheClient_thenItWaitsForTheStoreAllTheSame()
      throws Exception {
    SlowClosingStore store = new SlowClosingStore();
    EngineClient other = TestClient.on(store);
    Lease unused = other.lock("left").acquire();
    Thread.currentThread().interrupt();
    other.close();
    assertThat(Thread.interrupted()).isTrue();
    assertThat(store.ended).isDone();
  }
}
