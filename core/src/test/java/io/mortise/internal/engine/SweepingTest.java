package io.mortise.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.internal.judge.ForwardingStore;
import io.mortise.internal.table.MemStore;
import io.mortise.spi.ClientLabel;
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

/** A client has its store swept, by a clock that the test moves. */
class SweepingTest {
  private static final long SECOND = 1_000_000_000;

  private final Deque<Due> due = new ArrayDeque<>();
  private final Deque<Integer> removed = new ArrayDeque<>();
  private final List<String> asked = new ArrayList<>();
  private boolean ours = true;
  private long now;

  private record Due(long when, Runnable task) {}

  private final EngineScheduler timers =
      (delay, task) -> {
        Due later = new Due(now + delay, task);
        due.add(later);
        return () -> due.remove(later);
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

  /** Writes down what it is asked. */
  private final class Watched extends ForwardingStore {
    private final String name;

    Watched(String name) {
      super(new MemStore());
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
      Integer next = removed.poll();
      return next == null
          ? CompletableFuture.failedFuture(new IllegalStateException("on purpose"))
          : CompletableFuture.completedFuture(next);
    }
  }

  private Sweeping started(int parts) {
    List<Watched> stores =
        IntStream.range(0, parts).mapToObj(i -> new Watched(parts == 1 ? "" : " " + i)).toList();
    Sweeping sweeping = new Sweeping(parts, stores::get, env);
    sweeping.start();
    return sweeping;
  }

  /** Goes on until the next task is run; returns how long that took, in seconds. */
  private long nextTask() {
    assertThat(due).hasSize(1);
    Due next = due.remove();
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
    removed.addAll(List.of(Sweeping.BUDGET, Sweeping.BUDGET - 1));
    nextTask();
    assertThat(nextTask()).isLessThan(5);
    assertThat(asked).containsExactly("claim", "sweep", "sweep");
    assertThat(nextTask()).isBetween(53L, 60L);
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
    assertThat(due).isEmpty();
  }
}
