package io.mortise.recipe.engine;

import io.mortise.DistributedOnce.OnceResult;
import io.mortise.Lease;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.spi.Fact;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One asynchronous call of a once: reads, acquires, marks, runs, stores, releases. Each step
 * follows the answer to the previous one.
 */
final class OnceRun {
  private final Recipes recipes;
  private final EngineOnce once;
  private final Supplier<CompletableFuture<Lease>> acquire;
  private final Function<? super Lease, ? extends CompletionStage<@Nullable String>> task;
  private final CompletableFuture<OnceResult> result = new CompletableFuture<>();

  OnceRun(
      Recipes recipes,
      EngineOnce once,
      Supplier<CompletableFuture<Lease>> acquire,
      Function<? super Lease, ? extends CompletionStage<@Nullable String>> task) {
    this.recipes = recipes;
    this.once = once;
    this.acquire = acquire;
    this.task = task;
  }

  CompletableFuture<OnceResult> begin() {
    recipes.refuseIfClosed();
    var looked =
        recipes
            .facts()
            .readRetrying(once.fact())
            .thenApply(once::stored)
            .whenComplete(
                (found, failure) -> {
                  if (failure != null) {
                    fail(failure);
                  } else if (found.isPresent()) {
                    result.complete(found.get());
                  } else if (!result.isDone()) {
                    acquire();
                  }
                });
    assert looked != null;
    return recipes.endsWithClient(result);
  }

  private void fail(Throwable failure) {
    result.completeExceptionally(Recipes.cause(failure));
  }

  private void acquire() {
    CompletableFuture<Lease> attempt;
    try {
      attempt = acquire.get();
    } catch (IllegalStateException e) { // The client was closed.
      fail(e);
      return;
    }
    var granted =
        attempt.whenCompleteAsync(
            (lease, failure) -> {
              if (lease == null || failure != null) {
                fail(failure == null ? new IllegalStateException("no lease") : failure);
              } else if (result.isDone()) {
                var unused = lease.releaseAsync();
              } else {
                runUnder(lease);
              }
            },
            recipes.env().callbacks());
    var ended = result.whenComplete((value, failure) -> attempt.cancel(false));
    assert granted != null && ended != null;
  }

  private void runUnder(Lease lease) {
    var run =
        // A lease that is in doubt or lost by now has no token.
        CompletionStages.start(() -> run(lease, once.begun(lease)))
            .whenComplete(
                (value, failure) -> {
                  var released =
                      lease // A stored result counts, even if the lease was lost.
                          .releaseAsync()
                          .whenComplete(
                              (ignored, loss) -> {
                                if (failure == null) {
                                  result.complete(value);
                                } else {
                                  fail(failure);
                                }
                              });
                  assert released != null;
                });
    assert run != null;
  }

  private CompletableFuture<OnceResult> run(Lease lease, OnceDocument begun) {
    return mark(lease, begun)
        .thenCompose(
            present -> {
              Optional<OnceResult> earlier = once.stored(present);
              return earlier.isPresent()
                  ? CompletableFuture.completedFuture(earlier.get())
                  : runMarked(lease, begun);
            });
  }

  private CompletableFuture<Fact> mark(Lease lease, OnceDocument begun) {
    return recipes
        .facts()
        .change(
            once.fact(),
            once.known(),
            present -> {
              lease.ensureValid();
              Optional<OnceDocument> found = once.decode(present);
              if (found.isPresent() && (found.get().isDone() || found.get().isSameStep(begun))) {
                return Optional.empty();
              } else if (found.isPresent() && found.get().token() > begun.token()) {
                throw once.overtaken(begun, found);
              }
              return Optional.of(begun.encode());
            });
  }

  private CompletableFuture<OnceResult> runMarked(Lease lease, OnceDocument begun) {
    lease.ensureValid();
    return CompletionStages.<@Nullable String>start(
            () -> task.apply(lease).thenApply(Function.identity()))
        .toCompletableFuture()
        .thenCompose(
            value -> {
              once.checkLength(value);
              OnceDocument done = begun.done(value);
              Duration keep = once.keep();
              return recipes
                  .facts()
                  .insist(
                      once.fact(), keep, lease::ensureValid, present -> store(begun, done, present))
                  .thenApply(stored -> EngineOnce.result(done, stored.version(), true));
            });
  }

  private Optional<String> store(OnceDocument begun, OnceDocument done, Fact present) {
    Optional<OnceDocument> found = once.decode(present);
    if (found.isPresent() && found.get().isSameStep(done)) {
      return Optional.empty();
    } else if (found.isPresent() && found.get().isSameStep(begun)) {
      return Optional.of(done.encode());
    }
    throw once.overtaken(done, found);
  }
}
