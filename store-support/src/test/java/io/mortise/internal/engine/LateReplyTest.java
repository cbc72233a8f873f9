package io.mortise.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockOptions;
import io.mortise.internal.client.EngineClient;
import io.mortise.internal.client.TestClient;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LateReplyTest {
  private static final Duration AT_MOST = Duration.ofSeconds(2);
  private static final Duration SHORT = Duration.ofMillis(20);
  private static final Duration TOO_LATE = AT_MOST.plusMillis(200);

  private final AtomicInteger acquires = new AtomicInteger();

  /** Leaves three acquires unanswered, and answers the fourth when its at-most time is over. */
  private final class FailingStore extends ForwardingStore {
    FailingStore() {
      super(new MemStore(Ticker.SYSTEM, WallClock.SYSTEM));
    }

    @Override
    public StoreSession open(SessionSpec spec, Consumer<SessionNotification> hints) {
      return new FailingSession(super.open(spec, hints));
    }
  }

  private final class FailingSession extends ForwardingSession {
    FailingSession(StoreSession session) {
      super(session);
    }

    @Override
    public void submit(Request request, Consumer<Reply> sink) {
      int number = request instanceof Request.Acquire ? acquires.incrementAndGet() : 0;
      if (number >= 1 && number <= 3) {
        sink.accept(
            new Reply.Failed(request.attempt(), false, new IllegalStateException("on purpose")));
      } else if (number == 4) {
        super.submit(
            request,
            reply ->
                CompletableFuture.delayedExecutor(TOO_LATE.toMillis(), TimeUnit.MILLISECONDS)
                    .execute(() -> sink.accept(reply)));
      } else {
        super.submit(request, sink);
      }
    }
  }

  @Test
  void givenOutage_whenOneGrantIsLate_thenTheWaitGoesOn() throws Exception {
    try (EngineClient client = TestClient.on(new FailingStore())) {
      client.lock("late", LockOptions.DEFAULTS.withAtMost(AT_MOST)).acquire().close();
      assertThat(acquires).hasValue(5);
    }
  }

  @Test
  void givenTaskThatOutlivesItsLease_whenNobodyHasNoticedYet_thenTheLossIsTold() throws Exception {
    try (EngineClient client = TestClient.on(new MemStore(Ticker.SYSTEM, WallClock.SYSTEM))) {
      Lease lease = client.lock("scope", LockOptions.DEFAULTS.withAtMost(AT_MOST)).acquire();
      // The task races with the timer that notices the loss; the exception does not depend on the
      // winner.
      assertThatThrownBy(
              () ->
                  lease.run(
                      () -> {
                        while (lease.isValid()) {
                          Thread.onSpinWait();
                        }
                        return "done";
                      }))
          .isInstanceOf(LeaseLostException.class);
      assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
    }
  }

  @Test
  void givenDeadlineThatHasPassed_whenNobodyHasNoticedYet_thenThereIsNoToken() throws Exception {
    try (EngineClient client = TestClient.on(new MemStore(Ticker.SYSTEM, WallClock.SYSTEM))) {
      for (int i = 0; i < 5; i++) {
        Lease lease = client.lock("token", LockOptions.DEFAULTS.withAtMost(SHORT)).acquire();
        while (lease.isValid()) {
          Thread.onSpinWait();
        }
        assertThatThrownBy(lease::token).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(lease::fencingToken).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
      }
    }
  }
}
