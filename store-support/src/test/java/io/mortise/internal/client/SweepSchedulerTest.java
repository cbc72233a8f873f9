package io.mortise.internal.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.runtime.EngineRules;
import io.mortise.internal.runtime.EngineScheduler;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.time.Ticker;
import io.mortise.spi.time.WallClock;
import io.mortise.support.liveness.ForwardingStore;
import io.mortise.support.memory.MemStore;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A client's sweeps of its store, by a clock that the test moves. */
class SweepSchedulerTest {
  private static final long SECOND = 1_000_000_000;

  private final Deque<ScheduledTask> scheduledTask = new ArrayDeque<>();
  private final Deque<Integer> removed = new ArrayDeque<>();
  private final List<String> asked = new ArrayList<>();
  private boolean ours = true;
  private long took;
  private long now;

  private record ScheduledTask(long when, Runnable task) {}

  private final EngineScheduler timers =
      (delay, task) -> {
        ScheduledTask later = new ScheduledTask(now + delay, task);
        scheduledTask.add(later);
        return () -> scheduledTask.remove(later);
      };

  private final EngineEnv env =
      new EngineEnv(
          () -> now,
          timers,
          timers,
          Runnable::run,
          () -> 0,
          new Random(7),
          EngineRules.ALL,
          Duration.ofSeconds(10),
          new ClientLabel("-", 1, "test"));

  /** Records the calls. */
  private final class RecordingStore extends ForwardingStore {
    private final String name;

    RecordingStore(String name) {
      super(new MemStore(Ticker.SYSTEM, WallClock.SYSTEM));
      this.name = name;
    }

    @Override
    public CompletionStage<Boolean> claimSweep() {
      asked.add("claim" + name);
      return CompletableFuture.completedFuture(ours);
    }

    @Override
    public CompletionStage<Integer> sweep(int budget) {
      asked.add("sweep" + name);
      now += took;
      Integer next = removed.poll();
      return next == null
          ? CompletableFuture.failedFuture(new IllegalStateException("on purpose"))
          : CompletableFuture.completedFuture(next);
    }
  }

  private SweepScheduler started(int parts) {
    List<RecordingStore> stores =
        IntStream.range(0, parts)
            .mapToObj(i -> new RecordingStore(parts == 1 ? "" : " " + i))
            .toList();
    SweepScheduler sweepScheduler = new SweepScheduler(parts, stores::get, env);
    sweepScheduler.start();
    return sweepScheduler;
  }

  /** Runs until the next task; returns the time passed, in seconds. */
  private long nextTask() {
    assertThat(scheduledTask).hasSize(1);
    ScheduledTask next = scheduledTask.remove();
    long passed = (next.when - now) / SECOND;
    now = next.when;
    next.task.run();
    return passed;
  }

  @Test
  void givenStore_thenItIsSweptOnceAMinute_alsoAfterASweepThatFailed() {
    started(1).start();
    assertThat(nextTask()).isBetween(30L, 90L);
    assertThat(asked).containsExactly("claim", "sweep");
    removed.add(3);
    assertThat(nextTask()).isBetween(53L, 60L);
    assertThat(nextTask()).isBetween(53L, 60L);
    assertThat(asked).hasSize(6);
  }

  @Test
  void givenMoreThanASweepMayRemove_thenItGoesOnSoon_andIsNotClaimedAnew() {
    started(1);
    removed.addAll(List.of(SweepScheduler.BUDGET, SweepScheduler.BUDGET - 1));
    nextTask();
    assertThat(nextTask()).isLessThan(5);
    assertThat(asked).containsExactly("claim", "sweep", "sweep");
    assertThat(nextTask()).isBetween(53L, 60L);
  }

  @Test
  void givenSweepsThatTakeLong_whenTheyGoOn_thenTheyTakeAFifthOfTheTime() {
    took = 3 * SECOND;
    started(1);
    removed.addAll(List.of(SweepScheduler.BUDGET, SweepScheduler.BUDGET));
    nextTask();
    assertThat(nextTask()).isEqualTo(12);
    assertThat(asked).containsExactly("claim", "sweep", "sweep");
  }

  @Test
  void givenSweepThatAnotherProcessDoes_thenItIsAskedAgainAMinuteLater() {
    ours = false;
    started(1);
    nextTask();
    assertThat(nextTask()).isBetween(53L, 60L);
    assertThat(asked).containsExactly("claim", "claim");
  }

  @Test
  void givenManyParts_thenEachHasItsTurnWithinTenMinutes() {
    started(64);
    long passed = nextTask();
    for (int i = 1; i < 64; i++) {
      passed += nextTask() + 1;
    }
    assertThat(asked.stream().filter(each -> each.startsWith("sweep")).distinct()).hasSize(64);
    assertThat(passed).isLessThan(11 * 60);
  }

  @Test
  void givenClientThatIsClosed_thenNothingIsSweptAnyMore() {
    started(1).stop();
    assertThat(scheduledTask).isEmpty();
  }
}
