package io.mortise.recipe.engine;

import io.mortise.LeaseInDoubtException;
import io.mortise.LockException;
import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.internal.queue.KeyedBatcher;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.runtime.EngineScheduler;
import io.mortise.internal.runtime.FailureText;
import io.mortise.internal.runtime.StoreCall;
import io.mortise.spi.Fact;
import io.mortise.spi.LockStore;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Reads and changes documents of recipes, without a thread. Callback threads process answers. */
final class FactClient {
  private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final long LONGEST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
  private static final long FIRST_CONFLICT_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long LONGEST_CONFLICT_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** A store is reported after this many failures in a row, or if it is silent for its timeout. */
  private static final int MOST_FAILURES = 9;

  /** The longest pause is the first one, doubled this often at most. */
  private static final int MOST_DOUBLINGS = 10;

  private final LockStore store;
  private final EngineEnv env;

  /** The store's timeout. */
  private final long limitNanos;

  /** Steps of this process share a write, so that they do not fail each other's comparisons. */
  private final KeyedBatcher<SharedText, FactStep, Fact> shared;

  private record SharedText(LockName name, Duration keep) {}

  FactClient(LockStore store, EngineEnv env) {
    this.store = store;
    this.env = env;
    this.shared =
        new KeyedBatcher<>(
            step -> null,
            this::changeShared,
            failure -> !(failure instanceof StoreUnavailableException));
    this.limitNanos = StoreCall.limit(store).toNanos();
  }

  /** The pure part of a change. */
  @FunctionalInterface
  interface FactStep {
    /** The text that replaces the present one; empty to leave it. */
    Optional<String> next(Fact present);
  }

  /** Reads once, within the store's timeout; reports a failure as the API does. */
  void read(LockName name, BiConsumer<@Nullable Fact, @Nullable LockException> answer) {
    ask(() -> store.readFact(name), limitNanos, answer);
  }

  private <T> void ask(
      Callable<CompletionStage<T>> question,
      long mostNanos,
      BiConsumer<@Nullable T, @Nullable LockException> answer) {
    CompletableFuture<T> asked = CompletionStages.start(question).toCompletableFuture().copy();
    EngineScheduler.ScheduledTimer limit =
        env.timers().schedule(mostNanos, () -> asked.completeExceptionally(new TimeoutException()));
    CompletableFuture<T> answered =
        asked.whenCompleteAsync(
            (value, failure) -> {
              limit.cancel();
              answer.accept(value, failure == null ? null : told(failure));
            },
            env.callbacks());
    assert answered != null;
  }

  /** The failure as {@link StoreCall} reports it. */
  private LockException told(Throwable failure) {
    Throwable cause = CompletionStages.cause(failure);
    if (cause instanceof TimeoutException && cause.getMessage() == null) {
      return StoreCall.noAnswer(store, Duration.ofNanos(limitNanos), cause);
    }
    return cause instanceof LockException known
        ? StoreCall.known(known)
        : new StoreUnavailableException(
            FailureText.about(store.profile().display(), FailureText.said(cause)), cause);
  }

  /**
   * Applies a step until it is written. A step must recognise by the text whether it was executed
   * before, since it is applied again if an answer is lost.
   *
   * @param keep how long the store keeps the new text
   * @return the text after the step
   */
  CompletableFuture<Fact> change(LockName name, Duration keep, FactStep step) {
    return change(name, content -> keep, step);
  }

  /**
   * As {@link #change(LockName, Duration, FactStep)}. Concurrent steps of this process share the
   * next write.
   *
   * @return the text after all steps of that write
   */
  CompletableFuture<Fact> changeTogether(LockName name, Duration keep, FactStep step) {
    CompletableFuture<Fact> result = new CompletableFuture<>();
    shared.add(new SharedText(name, keep), step, result);
    return result;
  }

  private CompletionStage<List<Fact>> changeShared(
      SharedText text, Supplier<List<FactStep>> steps) {
    AtomicInteger count = new AtomicInteger();
    return change(
            text.name(),
            text.keep(),
            present -> {
              List<FactStep> together = steps.get();
              count.set(together.size());
              Fact next = present;
              for (FactStep each : together) {
                Optional<String> content = each.next(next);
                next = content.isEmpty() ? next : new Fact(present.version(), content.get());
              }
              return next.equals(present) ? Optional.empty() : Optional.of(next.content());
            })
        .thenApply(fact -> Collections.nCopies(count.get(), fact));
  }

  /** As {@link #change(LockName, Duration, FactStep)}, with a text-dependent time to keep. */
  CompletableFuture<Fact> change(LockName name, Function<String, Duration> keep, FactStep step) {
    FactChange change = new FactChange(name, keep, MOST_FAILURES, step);
    change.read();
    return change.result;
  }

  /**
   * As above, regardless of the number of failures: until the check, which precedes each try,
   * throws. While a lease is in doubt, the check is repeated.
   */
  CompletableFuture<Fact> insist(LockName name, Duration keep, Runnable check, FactStep step) {
    FactChange change =
        new FactChange(name, content -> keep, Integer.MAX_VALUE, step) {
          @Override
          void read() {
            try {
              check.run();
            } catch (LeaseInDoubtException e) {
              again(FIRST_PAUSE_NANOS);
              return;
            } catch (RuntimeException e) {
              result.completeExceptionally(e);
            }
            super.read();
          }
        };
    change.read();
    return change.result;
  }

  /** Reads, with as many retries as {@link #change}. */
  CompletableFuture<Fact> readRetrying(LockName name) {
    return change(name, Duration.ZERO, present -> Optional.empty()); // Writes nothing.
  }

  /** Extends the time to keep a text, if it has not been changed meanwhile. Reports no outcome. */
  void refresh(LockName name, Fact present, Duration keep) {
    ask(
        () -> store.replaceFact(name, present.version(), present.content(), keep),
        limitNanos,
        (version, failure) -> {});
  }

  /** One change. Its steps follow one another. */
  private class FactChange {
    private final LockName name;
    private final Function<String, Duration> keep;
    private final FactStep step;
    private final int mostFailures;
    final CompletableFuture<Fact> result = new CompletableFuture<>();
    private int failures;

    /** The store's last answer in a row of failures; null if it was silent in all of it. */
    private @Nullable LockException refusal;

    /** The last time before the current row of failures, or the begin of the change. */
    private long answeredAt = env.now();

    private int conflicts;

    FactChange(LockName name, Function<String, Duration> keep, int mostFailures, FactStep step) {
      this.name = name;
      this.keep = keep;
      this.mostFailures = mostFailures;
      this.step = step;
    }

    void read() {
      if (!result.isDone()) {
        ask(() -> store.readFact(name), leftNanos(), this::onRead);
      }
    }

    /** How long the store may stay silent from now on. */
    private long leftNanos() {
      return insists() ? limitNanos : answeredAt + limitNanos - env.now();
    }

    private boolean insists() {
      return mostFailures == Integer.MAX_VALUE;
    }

    private void onRead(@Nullable Fact present, @Nullable LockException failure) {
      if (present == null || failure != null) {
        onFailure(failure);
        return;
      }
      answeredAt = failures == 0 ? env.now() : answeredAt;
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
          leftNanos(),
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
        refusal = null;
        answeredAt = env.now();
        long most = doubled(FIRST_CONFLICT_NANOS, conflicts++, LONGEST_CONFLICT_NANOS);
        again((long) (most * env.random().nextDouble()));
      }
    }

    private void onFailure(@Nullable LockException latest) {
      failures++;
      boolean silent = latest != null && latest.getCause() instanceof TimeoutException;
      refusal = silent ? refusal : latest;
      LockException failure = refusal == null ? latest : refusal;
      long pause = env.jittered(doubled(FIRST_PAUSE_NANOS, failures - 1, LONGEST_PAUSE_NANOS));
      if (failure instanceof StoreUnavailableException
          && failures < mostFailures
          && (insists() || pause < leftNanos())) {
        again(pause);
      } else {
        result.completeExceptionally(
            failure == null ? new LockException("The store answered with nothing.") : failure);
      }
    }

    final void again(long pauseNanos) {
      env.timers().schedule(pauseNanos, this::read);
    }

    private long doubled(long first, int times, long longest) {
      return Math.min(longest, first << Math.min(times, MOST_DOUBLINGS));
    }
  }
}
