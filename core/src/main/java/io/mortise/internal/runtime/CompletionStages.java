package io.mortise.internal.runtime;

import io.mortise.LockException;
import io.mortise.function.CheckedSupplier;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/** Helpers for stages: calls that throw instead of returning a stage, and wrapped failures. */
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

  /**
   * Makes a blocking call on a new daemon thread, which inherits nothing: a data source may return
   * the connection of a transaction that is bound to the caller's thread. Does not block.
   */
  public static <T> CompletableFuture<T> detached(String thread, Callable<T> call) {
    CompletableFuture<T> result = new CompletableFuture<>();
    Runnable task =
        () -> {
          try {
            result.complete(call.call());
          } catch (Exception | Error e) {
            result.completeExceptionally(e);
          }
        };
    DaemonThreads.create(thread, task).start();
    return result;
  }

  /** Runs each task as {@link #detached} does. The application may occupy the whole common pool. */
  public static Executor detaching(String thread) {
    return task -> {
      var unused = detached(thread, Executors.callable(task));
    };
  }

  /** Makes a call as {@link #detached} does, and waits for it. Throws the failure of the call. */
  public static <T, X extends Exception> T callDetached(String thread, CheckedSupplier<T, X> call)
      throws X {
    return join(detached(thread, call::get));
  }

  /** Waits for a call of {@link #detached}. Throws the failure of the call, which is an X. */
  public static <T, X extends Exception> T join(CompletableFuture<T> detached) throws X {
    try {
      return detached.join();
    } catch (CompletionException e) {
      Throwable cause = cause(e);
      cause.addSuppressed(new LockException("called here"));
      if (cause instanceof Error error) {
        throw error;
      }
      @SuppressWarnings("unchecked") // the call throws nothing else
      X failure = (X) cause;
      throw failure;
    }
  }

  /** Completes a future as the stage completes, with its failure unchanged. */
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

  /** The failure of a stage, without the exceptions in which stages wrap it. */
  public static Throwable cause(@Nullable Throwable failure) {
    Throwable cause = failure;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause == null ? new IllegalStateException("no answer and no failure") : cause;
  }
}
