package io.mortise.spring;

import java.util.Collection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A call whose work ends with a {@link CompletionStage}: its locks are held until then. */
final class StageCall {
  private StageCall() {}

  /** Begins the work of a call. */
  interface StageBody {
    /** The stage whose end is that of the work; null counts as ended. */
    @Nullable CompletionStage<?> begin() throws Exception;
  }

  /**
   * Acquires without blocking, then runs the body: on a thread of Mortise, or on this one if the
   * grant has arrived already.
   *
   * @return completes as the body's stage when the locks are released; a caller that completes it
   *     earlier, such as by {@code cancel} or {@code orTimeout}, gives up an attempt that waits
   */
  static CompletableFuture<@Nullable Object> begin(
      LockPlan plan, Collection<String> names, @Nullable Object skipped, StageBody body) {
    CompletableFuture<@Nullable Object> result = new CompletableFuture<>();
    CompletableFuture<?> acquired =
        HeldLocks.acquireAsync(
            plan,
            names,
            (held, failure) -> {
              if (failure != null) {
                result.completeExceptionally(failure);
              } else if (held == null) {
                // The call itself may be skipped by an empty stage, whose value is used here.
                result.complete(skipped);
              } else if (result.isDone()) {
                var unused = held.releaseAsync();
              } else {
                run(held, body, result);
              }
            });
    var unused =
        result.whenComplete(
            (value, failure) -> {
              // Has no effect on an attempt that was answered.
              boolean ignored = acquired.cancel(true);
            });
    return result;
  }

  /** Runs the body on this thread. */
  static CompletableFuture<@Nullable Object> run(HeldLocks held, StageBody body) {
    CompletableFuture<@Nullable Object> result = new CompletableFuture<>();
    run(held, body, result);
    return result;
  }

  private static void run(
      HeldLocks held, StageBody body, CompletableFuture<@Nullable Object> result) {
    CompletionStage<?> stage;
    try (LockContext.Scope inside = LockContext.enter(held.holds())) {
      assert inside != null;
      held.ensureValid();
      stage = body.begin();
    } catch (Throwable e) {
      stage = CompletableFuture.failedFuture(e);
    }
    if (stage == null) {
      stage = CompletableFuture.completedFuture(null);
    }
    try {
      var unused = stage.whenComplete((value, failure) -> release(held, result, value, failure));
    } catch (Throwable e) {
      // A stage that the method supplied may throw; releasing twice does nothing.
      release(held, result, null, e);
    }
  }

  private static void release(
      HeldLocks held,
      CompletableFuture<@Nullable Object> result,
      @Nullable Object value,
      @Nullable Throwable failure) {
    var unused =
        held.releaseAsync()
            .whenComplete(
                (ignored, loss) -> settle(result, value, failure, HeldLocks.unwrapped(loss)));
  }

  private static void settle(
      CompletableFuture<@Nullable Object> result,
      @Nullable Object value,
      @Nullable Throwable failure,
      @Nullable Throwable loss) {
    if (failure != null) {
      if (loss != null && loss != failure) {
        failure.addSuppressed(loss);
      }
      result.completeExceptionally(failure);
    } else if (loss != null) {
      result.completeExceptionally(loss);
    } else {
      result.complete(value);
    }
  }
}
