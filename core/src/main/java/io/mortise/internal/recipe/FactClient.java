package io.mortise.internal.recipe;

import io.mortise.LockException;
import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.runtime.FailureText;
import io.mortise.spi.Fact;
import io.mortise.spi.LockStore;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Reads and changes documents of recipes, without a thread. Answers are worked on by the threads
 * for callbacks.
 */
final class FactClient {
  private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final long LONGEST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
  private static final long FIRST_CONFLICT_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long LONGEST_CONFLICT_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** A store that fails so often in a row, or for so long, is reported. */
  private static final int MOST_FAILURES = 9;

  private static final long LONGEST_FAILURE_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** The longest pause is the first one, doubled so often at most. */
  private static final int MOST_DOUBLINGS = 10;

  private final LockStore store;
  private final EngineEnv env;

  FactClient(LockStore store, EngineEnv env) {
    this.store = store;
    this.env = env;
  }

  /** The pure part of a change. */
  @FunctionalInterface
  interface FactStep {
    /** The text that is to stand instead; empty if the present one may stay. */
    Optional<String> next(Fact present);
  }

  /** Reads once; tells a failure as the API does. */
  void read(LockName name, BiConsumer<@Nullable Fact, @Nullable LockException> answer) {
    ask(() -> store.readFact(name), answer);
  }

  private <T> void ask(
      Callable<CompletionStage<T>> question,
      BiConsumer<@Nullable T, @Nullable LockException> answer) {
    CompletionStage<T> asked =
        CompletionStages.start(question)
            .whenCompleteAsync(
                (value, failure) -> answer.accept(value, failure == null ? null : told(failure)),
                env.callbacks());
    assert asked != null;
  }

  /** As {@link io.mortise.internal.runtime.StoreCall} tells failures. */
  private LockException told(Throwable failure) {
    Throwable cause = CompletionStages.cause(failure);
    return cause instanceof LockException known
        ? known
        : new StoreUnavailableException(
            FailureText.about(store.profile().display(), FailureText.said(cause)), cause);
  }

  /**
   * Applies a step until it stands. A step must find by the text whether it was executed before,
   * since it is applied again if an answer is lost.
   *
   * @param keep how long the store keeps the new text
   * @return the text as it stands after the step
   */
  CompletableFuture<Fact> change(LockName name, Duration keep, FactStep step) {
    return change(name, content -> keep, step);
  }

  /** As above; how long a text is kept depends on it. */
  CompletableFuture<Fact> change(LockName name, Function<String, Duration> keep, FactStep step) {
    FactChange change = new FactChange(name, keep, MOST_FAILURES, LONGEST_FAILURE_NANOS, step);
    change.read();
    return change.result;
  }

  /**
   * As above, however often the store fails: until the check, which comes before each try, throws.
   */
  CompletableFuture<Fact> insist(LockName name, Duration keep, Runnable check, FactStep step) {
    FactChange change =
        new FactChange(name, content -> keep, Integer.MAX_VALUE, Long.MAX_VALUE, step) {
          @Override
          void read() {
            try {
              check.run();
            } catch (RuntimeException e) {
              result.completeExceptionally(e);
            }
            super.read();
          }
        };
    change.read();
    return change.result;
  }

  /** Reads, and again after a failure, as often as {@link #change} does. */
  CompletableFuture<Fact> readRetrying(LockName name) {
    return change(name, Duration.ZERO, present -> Optional.empty()); // Nothing is ever written.
  }

  /** Keeps a text for another while, if it has not been changed meanwhile. Tells nobody. */
  void refresh(LockName name, Fact present, Duration keep) {
    ask(
        () -> store.replaceFact(name, present.version(), present.content(), keep),
        (version, failure) -> {});
  }

  /** One change. Its steps follow one another. */
  private class FactChange {
    private final LockName name;
    private final Function<String, Duration> keep;
    private final FactStep step;
    private final int mostFailures;
    private final long longestNanos;
    final CompletableFuture<Fact> result = new CompletableFuture<>();
    private int failures;
    private long failingSince;
    private int conflicts;

    FactChange(
        LockName name,
        Function<String, Duration> keep,
        int mostFailures,
        long longestNanos,
        FactStep step) {
      this.name = name;
      this.keep = keep;
      this.mostFailures = mostFailures;
      this.longestNanos = longestNanos;
      this.step = step;
    }

    void read() {
      if (!result.isDone()) {
        FactClient.this.read(name, this::onRead);
      }
    }

    private void onRead(@Nullable Fact present, @Nullable LockException failure) {
      if (present == null || failure != null) {
        onFailure(failure);
        return;
      }
      Optional<String> next;
      try {
        next = step.next(present);
      } catch (RuntimeException e) {
        result.completeExceptionally(e);
        return;
      }
      if (next.isEmpty()) {
        result.complete(present);
        return;
      }
      String content = next.get();
      ask(
          () -> store.replaceFact(name, present.version(), content, keep.apply(content)),
          (version, trouble) -> onReplaced(content, version, trouble));
    }

    private void onReplaced(
        String content, @Nullable Long version, @Nullable LockException failure) {
      if (version == null || failure != null) {
        onFailure(failure);
      } else if (version > 0) {
        result.complete(new Fact(version, content));
      } else {
        failures = 0;
        long most = doubled(FIRST_CONFLICT_NANOS, conflicts++, LONGEST_CONFLICT_NANOS);
        again((long) (most * env.random().nextDouble()));
      }
    }

    private void onFailure(@Nullable LockException failure) {
      if (failures == 0) {
        failingSince = env.now();
      }
      failures++;
      if (failure instanceof StoreUnavailableException
          && failures < mostFailures
          && env.now() - failingSince < longestNanos) {
        again(env.jittered(doubled(FIRST_PAUSE_NANOS, failures - 1, LONGEST_PAUSE_NANOS)));
      } else {
        result.completeExceptionally(
            failure == null ? new LockException("The store answered with nothing.") : failure);
      }
    }

    private void again(long pauseNanos) {
      env.timers().schedule(pauseNanos, this::read);
    }

    private long doubled(long first, int times, long longest) {
      return Math.min(longest, first << Math.min(times, MOST_DOUBLINGS));
    }
  }
}
