package io.mortise.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockOptions;
import io.mortise.StoreUnavailableException;
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
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * When a sticky holder hears that it is called back, and for how long a try waits for that, on a
 * clock moved by hand.
 */
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

  /** The pause between two looks for call-backs; zero where they are pushed. */
  private Duration delay = Duration.ZERO;

  /** Whether looks fail; else they find what was not pushed. */
  private boolean looksFail;

  private int looks;
  private int requests;

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
      List<SessionNotification> unread = new ArrayList<>();
      Consumer<SessionNotification> heard =
          hint -> {
            if (!holder || !silent) {
              hints.accept(hint);
            } else {
              unread.add(hint);
            }
          };
      return new ForwardingSession(super.open(spec, heard)) {
        @Override
        public void submit(Request request, Consumer<Reply> sink) {
          now += tripNanos;
          requests++;
          super.submit(request, sink);
        }

        @Override
        public Duration callBackDelay() {
          return delay;
        }

        @Override
        public CompletionStage<Void> lookForCallBacks() {
          looks++;
          if (looksFail) {
            return CompletableFuture.failedFuture(new StoreUnavailableException("Silent."));
          }
          List<SessionNotification> found = List.copyOf(unread);
          unread.clear();
          found.forEach(hints);
          return CompletableFuture.completedFuture(null);
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

  @ParameterizedTest
  @CsvSource({"0, 200", "20, 300", "100, 600"})
  void givenHoldersThatLook_thenATryWaitsForALook_andTwiceAsLongAsElsewhere(
      long tripMillis, long boundMillis) {
    delay = Duration.ofMillis(100);
    EngineClient holder = client(true);
    EngineClient contender = client(false);
    Lease used = done(holder.lock("a").with(STICKY).acquireAsync());
    done(contender.lock("other").acquireAsync()).close();
    tripNanos = tripMillis * MILLI;

    CompletableFuture<Lease> trial = contender.lock("a").acquireAsync(Duration.ZERO);
    long askedAt = now - tripNanos;
    runUntil(askedAt + boundMillis * MILLI - 1);
    assertThat(trial).isNotDone();
    runUntil(askedAt + boundMillis * MILLI + tripNanos);

    assertThat(trial).isCompletedExceptionally();
    used.close();
  }

  @Test
  void givenHolderThatLooks_whenItClosesBehindATryInVain_thenTheNextTryHasTheLock() {
    delay = Duration.ofMillis(100);
    EngineClient holder = client(true);
    EngineClient contender = client(false);
    Lease used = done(holder.lock("a").with(STICKY).acquireAsync());
    CompletableFuture<Lease> first = contender.lock("a").acquireAsync(Duration.ZERO);
    runUntil(now + 200 * MILLI);
    assertThat(first).isCompletedExceptionally();
    used.close();
    done(contender.lock("a").acquireAsync(Duration.ZERO)).ensureValid();
  }

  @Test
  void givenHolderThatLooks_thenATryHasTheLock() {
    delay = Duration.ofMillis(100);
    EngineClient holder = client(true);
    EngineClient contender = client(false);
    done(holder.lock("a").with(STICKY).acquireAsync()).close();

    CompletableFuture<Lease> trial = contender.lock("a").acquireAsync(Duration.ZERO);
    assertThat(trial).isNotDone();
    done(trial).ensureValid();
  }

  @Test
  void givenALostPush_thenALookFindsTheCallBackWithinASecond() {
    EngineClient holder = client(true);
    EngineClient contender = client(false);
    done(holder.lock("a").with(STICKY).acquireAsync()).close();

    CompletableFuture<Lease> wait = contender.lock("a").acquireAsync();
    runUntil(now + 1_000 * MILLI);
    assertThat(wait).isCompleted();
  }

  @Test
  void givenManyIdleGrants_thenOneLookServesAll_andNoneIsMadeOnceTheyHaveEnded() {
    delay = Duration.ofMillis(100);
    EngineClient holder = client(true);
    List<CompletableFuture<Lease>> acquired = new ArrayList<>();
    LockOptions second = LockOptions.DEFAULTS.withSticky(Duration.ofSeconds(1));
    for (int i = 0; i < 50; i++) {
      acquired.add(holder.lock("a/" + i).with(second).acquireAsync());
    }
    runUntil(now + 1);
    acquired.forEach(lease -> lease.join().close());
    runUntil(now + 1_100 * MILLI);
    assertThat(looks).isBetween(9, 11);
    assertThat(holder.engine().footprint()).isZero();
    int before = looks;
    runUntil(now + 10_000 * MILLI);
    assertThat(looks).isEqualTo(before);
  }

  @Test
  void givenLockThatIsInUseAtEachLook_thenItsCallBackIsFoundAllTheSame() {
    delay = Duration.ofMillis(100);
    EngineClient holder = client(true);
    EngineClient contender = client(false);
    done(holder.lock("a").with(STICKY).acquireAsync()).close();
    CompletableFuture<Lease> wait = contender.lock("a").acquireAsync();
    Lease used = done(holder.lock("a").with(STICKY).acquireAsync());
    assertThat(looks).isEqualTo(1);
    assertThat(wait).isNotDone();
    used.close();
    assertThat(holder.engine().footprint()).isZero();
    done(wait).ensureValid();
  }

  @Test
  void givenLooksThatFail_thenNoIdleGrantIsTakenBeforeARenewal() {
    delay = Duration.ofMillis(100);
    EngineClient holder = client(true);
    done(holder.lock("a").with(STICKY).acquireAsync()).close();
    looksFail = true;
    // The first failure has the session renewed at once, the second does not.
    runUntil(now + 1_200 * MILLI);
    assertThat(looks).isEqualTo(2);
    int before = requests;
    done(holder.lock("a").with(STICKY).acquireAsync()).close();
    assertThat(requests).isGreaterThan(before);
    looksFail = false;
    runUntil(now + 11_000 * MILLI);
    done(holder.lock("a").with(STICKY).acquireAsync()).close();
    before = requests;
    done(holder.lock("a").with(STICKY).acquireAsync()).close();
    assertThat(requests).isEqualTo(before);
  }
}
