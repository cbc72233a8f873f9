package io.mortise.support.internal.document;

import io.mortise.StoreUnfitException;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreReport;
import io.mortise.support.liveness.ForwardingStore;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/** A store with a report of its server's own settings, which an adapter reads. Thread-safe. */
@SuppressWarnings("exports") // of its superclass: its users see only a LockStore
public final class ReportingStore extends ForwardingStore {
  private final Supplier<CompletionStage<StoreReport>> report;

  private ReportingStore(LockStore store, Supplier<CompletionStage<StoreReport>> report) {
    super(store);
    this.report = report;
  }

  /**
   * Checks whether the server may be used. Blocks until it answers. Closes the store if it may not.
   *
   * @param check throws, or completes exceptionally, with the reason
   * @param report as {@link LockStore#examine} returns it
   * @throws RuntimeException the reason, after the store was closed
   */
  public static LockStore checked(
      LockStore store,
      Supplier<? extends CompletionStage<?>> check,
      Supplier<CompletionStage<StoreReport>> report) {
    try {
      var unused = check.get().toCompletableFuture().join();
    } catch (RuntimeException e) {
      store.close();
      throw CompletionStages.cause(e) instanceof RuntimeException known ? known : e;
    }
    return new ReportingStore(store, report);
  }

  /** The answer for a report; the fallback if it fails with a {@link StoreUnfitException}. */
  public static <T> CompletionStage<T> orElseIfUnfit(CompletionStage<T> answer, T fallback) {
    return answer.exceptionally(
        failure -> {
          Throwable cause = CompletionStages.cause(failure);
          if (cause instanceof StoreUnfitException) {
            return fallback;
          }
          throw new CompletionException(cause);
        });
  }

  @Override
  public CompletionStage<StoreReport> examine() {
    return report.get();
  }

  @Override
  public String toString() {
    return profile().display();
  }
}
