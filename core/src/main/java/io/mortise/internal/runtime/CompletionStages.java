package io.mortise.internal.runtime;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Calls that answer by a stage, of code that may throw all the same. */
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
}
