package io.mortise.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockOptions;
import io.mortise.internal.client.EngineClient;
import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.runtime.EngineRules;
import io.mortise.internal.runtime.EngineScheduler;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import io.mortise.spi.time.WallClock;
import io.mortise.support.liveness.ForwardingSession;
import io.mortise.support.liveness.ForwardingStore;
import io.mortise.support.memory.MemStore;
import java.time.Duration;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The time limit of a try that waits for a sticky holder, on a clock moved by hand. */
class CallBackBoundTest {
  private static final long MILLI = 1_000_000;
  private static final LockOptions STICKY = LockOptions.DEFAULTS.withSticky(Duration.ofSeconds(10));

  /** A timer of one of the clients. */
  private record Task(long due, long number, Runnable action) {}

  private final PriorityQueue<Task> tasks =
      new PriorityQueue<>(Comparator.comparingLong(Task::due).thenComparingLong(Task::number));

  private long now;
  private long numbers;
  private long tripNanos;

  /** The reaction of the holder's process to a call-back: none, as it does not run. */
  private boolean silent = true;

  private final MemStore table = new MemStore(() -> now, WallClock.SYSTEM);

  /** Delays each request by a round trip. */
  private final class SlowStore extends ForwardingStore {
    private final boolean holder;

    SlowStore(boolean holder) {
      super(table);
      this.holder = holder;
    }

    @Override
    public StoreSession open(SessionSpec spec, Consumer<SessionNotification> hints) {
      Consumer<SessionNotification> heard =
          hint -> {
            if (!holder || !silent) {
              hints.accept(hint);
            }
          };
      return new ForwardingSession(super.open(spec, heard)) {
        @Override
        public void submit(Request request, Consumer<Reply> sink) {
          now += tripNanos;
          super.submit(request, sink);
        }
      };
    }

    @Override
    public void close() {}
  }

  private EngineClient client(boolean holder) {
    EngineScheduler timers =
        (delay, action) -> {
          Task task = new Task(now + Math.max(0, delay), numbers++, action);
          tasks.add(task);
          return () -> tasks.remove(task);
        };
    EngineEnv env =
        new EngineEnv(
            () -> now,
            timers,
            timers,
            Runnable::run,
            () -> 0,
            new SplittableRandom(holder ? 1 : 2),
            EngineRules.ALL,
            Duration.ofSeconds(30),
            new ClientLabel("-", 1, "test"));
    return new EngineClient(new SlowStore(holder), env, () -> {});
  }

  private void runUntil(long time) {
    while (!tasks.isEmpty() && tasks.peek().due() - time <= 0) {
      Task task = tasks.remove();
      now = Math.max(now, task.due());
      task.action().run();
    }
    now = Math.max(now, time);
  }

  private <T> T done(CompletableFuture<T> future) {
    runUntil(now + 100 * MILLI);
    assertThat(future).isCompleted();
    return future.join();
  }

  @ParameterizedTest
  @CsvSource({"0, 50", "1, 50", "10, 50", "20, 100", "100, 250"})
  void givenHolderThatDoesNotAnswer_thenATryWaitsFiveRoundTrips_butNotTooLittleNorTooMuch(
      long tripMillis, long boundMillis) {
    EngineClient holder = client(true);
    EngineClient contender = client(false);
    done(holder.lock("a").with(STICKY).acquireAsync()).close();
    done(contender.lock("other").acquireAsync()).close();
    tripNanos = tripMillis * MILLI;

    CompletableFuture<Lease> trial = contender.lock("a").acquireAsync(Duration.ZERO);
    // The answer that the lock is busy took a round trip, and so does the place in the queue.
    long askedAt = now - tripNanos;
    runUntil(askedAt + boundMillis * MILLI - 1);
    assertThat(trial).isNotDone();
    runUntil(askedAt + boundMillis * MILLI);

    assertThat(trial).isCompletedExceptionally();
  }

  @Test
  void givenHolderThatDidNotAnswer_whenTriedAgain_thenItIsBusyAtOnce() {
    EngineClient holder = client(true);
    EngineClient contender = client(false);
    done(holder.lock("a").with(STICKY).acquireAsync()).close();
    CompletableFuture<Lease> first = contender.lock("a").acquireAsync(Duration.ZERO);
    runUntil(now + 50 * MILLI);
    assertThat(first).isCompletedExceptionally();

    assertThat(contender.lock("a").acquireAsync(Duration.ZERO)).isCompletedExceptionally();
  }

  @Test
  void givenHolderThatAnswers_thenTheTryHasTheLock() {
    silent = false;
    EngineClient holder = client(true);
    EngineClient contender = client(false);
    done(holder.lock("a").with(STICKY).acquireAsync()).close();

    done(contender.lock("a").acquireAsync(Duration.ZERO)).ensureValid();
  }
}
