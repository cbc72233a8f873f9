package io.mortise.internal.runtime;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** What stages leave to their users: code that throws instead, and failures that are wrapped. */
public final class CompletionStages {
  private CompletionStages() {}

  /** The stage that the call returns; a failed one if it throws instead. */
  public static <T> CompletionStage<T> start(Callable<CompletionStage<T>> call) {
    try {
      return call.call();
    } catch (Exception | Error e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Completes a future as the stage completes, with its failure as it is. */
  public static <T> void copy(CompletionStage<T> from, CompletableFuture<T> to) {
    from.whenComplete(
        (value, failure) -> {
          if (failure == null) {
            to.complete(value);
          } else {
            to.completeExceptionally(cause(failure));
          }
        });
  }

  /** The failure that a stage has, without what stages wrap it in. */
  public static Throwable cause(@Nullable Throwable failure) {
    Throwable cause = failure;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause == null ? new IllegalStateException("no answer and no failure") : cause;
  }
}
