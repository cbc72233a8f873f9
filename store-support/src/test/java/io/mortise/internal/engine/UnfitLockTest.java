package io.mortise.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.StoreUnfitException;
import io.mortise.internal.client.EngineClient;
import io.mortise.internal.client.TestClient;
import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.runtime.EngineScheduler;
import io.mortise.internal.runtime.SystemEnv;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.Renewal;
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
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Acquires that a store executes, and answers with a failure that no retry mends. */
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class UnfitLockTest {
  private static final String WHY = "Document 'lock/bad' in the store cannot be read.";
  private static final int TIMES_AS_FAST = 20;
  private static final Duration TTL = Duration.ofMinutes(2);
  private static final long OUTAGE_NANOS = Duration.ofSeconds(4).toNanos();

  private final Ticker ticker = () -> System.nanoTime() * TIMES_AS_FAST;
  private final MemStore mem = new MemStore(ticker, WallClock.SYSTEM);
  private final AtomicInteger failed = new AtomicInteger();
  private final AtomicLong failedFirst = new AtomicLong();

  /** Unfit for one lock, or for all requests, until a time after its first failure. */
  private final class UnfitStore extends ForwardingStore {
    private final boolean forAll;
    private final long fitAfter;

    UnfitStore(boolean forAll, long fitAfter) {
      super(mem);
      this.forAll = forAll;
      this.fitAfter = fitAfter;
    }

    @Override
    public StoreSession open(SessionSpec spec, Consumer<SessionNotification> hints) {
      return new ForwardingSession(super.open(spec, hints)) {
        @Override
        public void submit(Request request, Consumer<Reply> sink) {
          if (request instanceof Request.Acquire acquire
              && acquire.name().value().equals("bad")
              && isUnfit()) {
            if (failed.getAndIncrement() == 0) {
              failedFirst.set(ticker.nanos());
            }
            super.submit(
                request,
                reply ->
                    sink.accept(
                        new Reply.Failed(
                            request.attempt(),
                            true,
                            new IllegalStateException(new StoreUnfitException(WHY)))));
          } else {
            super.submit(request, sink);
          }
        }

        @Override
        public CompletionStage<Renewal> renew(
            long previous, long next, List<Long> seen, Duration ttl) {
          return forAll && failed.get() > 0 && isUnfit()
              ? CompletableFuture.completedFuture(
                  new Renewal.Unknown(new StoreUnfitException("Read-only.")))
              : super.renew(previous, next, seen, ttl);
        }
      };
    }

    private boolean isUnfit() {
      return failed.get() == 0 || ticker.nanos() - failedFirst.get() < fitAfter;
    }
  }

  private EngineClient client(UnfitStore store) {
    SystemEnv system = new SystemEnv();
    EngineEnv env = system.env(TTL, new ClientLabel("-", 1, "fast"));
    return new EngineClient(
        store,
        new EngineEnv(
            ticker,
            fast(env.timers()),
            fast(env.renewals()),
            env.callbacks(),
            env.suspended(),
            env.random(),
            env.rules(),
            env.ttl(),
            env.client()),
        system::close);
  }

  private static EngineScheduler fast(EngineScheduler timers) {
    return (delay, task) -> timers.schedule(delay / TIMES_AS_FAST, task);
  }

  @Test
  void givenLockThatCannotBeRead_whenTheStoreServesOthers_thenTheWaitEnds_andNothingIsLeft()
      throws Exception {
    try (EngineClient client = client(new UnfitStore(false, Long.MAX_VALUE));
        EngineClient other = TestClient.on(mem)) {
      CompletableFuture<Lease> wait = client.lock("bad").acquireAsync();
      while (!wait.isDone()) {
        client.lock("good").acquire().close();
      }
      assertThatThrownBy(wait::get)
          .isInstanceOf(ExecutionException.class)
          .cause()
          .isInstanceOf(StoreUnfitException.class)
          .hasMessage(WHY);
      assertThat(failed.get()).as("a failure may pass").isGreaterThan(1);
      // The last acquire was executed; its attempt was in doubt.
      other.lock("bad").acquireWithin(Duration.ofSeconds(10)).close();
    }
  }

  @Test
  void givenStoreThatIsUnfitForAll_whenItIsFitAgain_thenTheWaitHasGoneOn() throws Exception {
    try (EngineClient client = client(new UnfitStore(true, OUTAGE_NANOS))) {
      client.lock("bad").acquireAsync().get(20, TimeUnit.SECONDS).close();
    }
    assertThat(ticker.nanos() - failedFirst.get()).isGreaterThanOrEqualTo(OUTAGE_NANOS);
  }
}
