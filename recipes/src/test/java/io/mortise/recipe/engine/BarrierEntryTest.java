package io.mortise.recipe.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.LockClient;
import io.mortise.LockTimeoutException;
import io.mortise.internal.client.EngineClient;
import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.runtime.EngineRules;
import io.mortise.internal.runtime.EngineScheduler;
import io.mortise.spi.ClientLabel;
import io.mortise.support.memory.MemStore;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.EnumSet;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Deadlines of parties at each step, with time and callbacks that are moved by hand. */
class BarrierEntryTest {
  private static final Duration WAIT = Duration.ofMillis(1);

  /** More steps than an entry has. */
  private static final int STEPS = 40;

  private static final long POLLED_NANOS = TimeUnit.SECONDS.toNanos(2);

  private enum Outcome {
    PASSED,
    BROKEN,
    NOT_BROKEN
  }

  /** One thread runs everything, step by step. */
  private static final class HandMoved implements EngineScheduler {
    private record DueTask(long due, Runnable task) {}

    private final Deque<Runnable> callbacks = new ArrayDeque<>();
    private final PriorityQueue<DueTask> timers =
        new PriorityQueue<>(Comparator.comparingLong(DueTask::due));
    private final MemStore store = new MemStore(this::nanos, () -> Instant.EPOCH.plusNanos(1));
    private long nanos;

    long nanos() {
      return nanos;
    }

    @Override
    public ScheduledTimer schedule(long delayNanos, Runnable task) {
      DueTask due = new DueTask(nanos + Math.max(0, delayNanos), task);
      timers.add(due);
      return () -> timers.remove(due);
    }

    LockClient client(String name) {
      EngineEnv env =
          new EngineEnv(
              this::nanos,
              this,
              this,
              callbacks::add,
              () -> 0,
              new Random(name.hashCode()),
              EngineRules.ALL,
              Duration.ofSeconds(10),
              new ClientLabel("test", 1, name));
      return new EngineClient(store, env, () -> {});
    }

    /** Runs due work: at most this number of callbacks, and timers only without a callback. */
    void run(int most) {
      for (int i = 0; i < most; i++) {
        Runnable next = callbacks.poll();
        if (next == null) {
          if (timers.isEmpty() || timers.element().due() > nanos) {
            return;
          }
          next = timers.remove().task();
        }
        next.run();
      }
    }

    /** Moves the time, and runs due timers before waiting callbacks. */
    void moveTo(long until) {
      nanos = until;
      while (!timers.isEmpty() && timers.element().due() <= until) {
        timers.remove().task().run();
      }
      run(Integer.MAX_VALUE);
    }
  }

  private static Outcome outcomeWithDeadlineAfter(int steps) {
    HandMoved hand = new HandMoved();
    CompletableFuture<Long> first = hand.client("first").barrier("b", 2).awaitAsync();
    hand.run(Integer.MAX_VALUE);
    CompletableFuture<Long> second = hand.client("second").barrier("b", 2).awaitAsync(WAIT);
    hand.run(steps);
    hand.moveTo(WAIT.toNanos());
    hand.moveTo(POLLED_NANOS);
    assertThat(second).as("with the deadline after step %d", steps).isDone();
    if (!second.isCompletedExceptionally()) {
      assertThat(first).isCompletedWithValue(second.join());
      return Outcome.PASSED;
    }
    Throwable failure = second.handle((value, thrown) -> thrown).join();
    assertThat(Recipes.cause(failure)).isInstanceOf(LockTimeoutException.class);
    if (failure.getMessage().contains("It is not broken")) {
      assertThat(first).as("first party, deadline of the second after step %d", steps).isNotDone();
      return Outcome.NOT_BROKEN;
    }
    assertThat(first).as("first party, broken by the second").isCompletedExceptionally();
    return Outcome.BROKEN;
  }

  @Test
  void givenDeadlineAtAnyStep_thenAPartyThatIsToldThatNothingIsBroken_hasNotArrived() {
    Set<Outcome> seen = EnumSet.noneOf(Outcome.class);
    for (int steps = 0; steps < STEPS; steps++) {
      seen.add(outcomeWithDeadlineAfter(steps));
    }
    assertThat(seen)
        .as("a deadline before and after the arrival")
        .contains(Outcome.PASSED, Outcome.NOT_BROKEN);
  }
}
