package io.mortise.recipe.engine;

import io.mortise.LockException;
import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.runtime.EngineScheduler;
import io.mortise.spi.Fact;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Reads a document until a decision is made. The pause between two reads is an eighth of the time
 * waited so far, from 10 to 500 ms, less a random part of up to half. It continues while the store
 * does not answer. It ends when its result is completed, by it or by a caller.
 */
final class DocumentPoll<T> {
  static final long SHORTEST_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
  static final long LONGEST_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
  private static final int SHARE = 8;

  private final FactClient facts;
  private final EngineEnv env;
  private final LockName name;
  private final Function<Fact, Optional<T>> decision;
  private final CompletableFuture<T> result;
  private final long began;

  private volatile EngineScheduler.@Nullable ScheduledTimer timer;
  private volatile @Nullable LockException trouble;

  /**
   * A poll that has not begun.
   *
   * @param decision decides on the document; empty to continue reading. Called one at a time
   * @param result is completed with the decision, or with its exception
   */
  DocumentPoll(
      Recipes recipes,
      LockName name,
      Function<Fact, Optional<T>> decision,
      CompletableFuture<T> result) {
    this.facts = recipes.facts();
    this.env = recipes.env();
    this.name = name;
    this.decision = decision;
    this.result = result;
    this.began = env.now();
  }

  void start() {
    CompletableFuture<T> watched = result.whenComplete((value, failure) -> cancelTimer());
    assert watched != null;
    read();
  }

  /** The failure of the latest read; null if it did not fail. */
  @Nullable LockException trouble() {
    return trouble;
  }

  private void read() {
    if (!result.isDone()) {
      facts.read(name, this::onRead);
    }
  }

  private void onRead(@Nullable Fact present, @Nullable LockException failure) {
    if (result.isDone()) {
      return;
    }
    trouble = failure;
    if (failure != null && !(failure instanceof StoreUnavailableException)) {
      result.completeExceptionally(failure);
      return;
    }
    if (present != null) {
      try {
        Optional<T> decided = decision.apply(present);
        if (decided.isPresent()) {
          result.complete(decided.get());
          return;
        }
      } catch (RuntimeException e) {
        result.completeExceptionally(e);
        return;
      }
    }
    timer = env.timers().schedule(pauseNanos(), this::read);
    if (result.isDone()) { // The poll may have ended before there was this timer to cancel.
      cancelTimer();
    }
  }

  private long pauseNanos() {
    return pauseNanos(env.now() - began, env.random().nextDouble());
  }

  static long pauseNanos(long waitedNanos, double random) {
    long whole = Math.max(SHORTEST_NANOS, Math.min(LONGEST_NANOS, waitedNanos / SHARE));
    return Math.max(SHORTEST_NANOS, whole - (long) (0.5 * random * whole));
  }

  private void cancelTimer() {
    EngineScheduler.ScheduledTimer present = timer;
    if (present != null) {
      present.cancel();
    }
  }
}
