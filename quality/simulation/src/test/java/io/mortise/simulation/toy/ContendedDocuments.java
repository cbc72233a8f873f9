package io.mortise.simulation.toy;

import io.mortise.StoreUnavailableException;
import io.mortise.support.document.VersionedDocuments;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A remote, busy server: it answers on another thread, and documents get new versions between a
 * read and a write. It may lose a write, or its answer.
 */
final class ContendedDocuments implements VersionedDocuments {
  private final VersionedDocuments documents;
  private final Executor threads;
  private final Predicate<String> changesBefore;
  private final Function<String, Loss> losses;

  /** Writes that failed for their caller and are still in flight. */
  private final Queue<Runnable> late = new ConcurrentLinkedQueue<>();

  /** The fault of a write. */
  enum Loss {
    NOTHING,
    REQUEST,
    /** The write is executed by {@link #landLateWrites} only. */
    LATE,
    ANSWER
  }

  /**
   * Wraps documents.
   *
   * @param changesBefore by the key of a write, whether another process writes before it
   * @param losses by the key of a write, its fault
   */
  ContendedDocuments(
      VersionedDocuments documents,
      Executor threads,
      Predicate<String> changesBefore,
      Function<String, Loss> losses) {
    this.documents = documents;
    this.threads = threads;
    this.changesBefore = changesBefore;
    this.losses = losses;
  }

  /** Executes the late writes. */
  void landLateWrites() {
    for (Runnable write = late.poll(); write != null; write = late.poll()) {
      write.run();
    }
  }

  @Override
  public CompletionStage<VersionedText> read(String key) {
    return documents.read(key).thenApplyAsync(found -> found, threads);
  }

  @Override
  public CompletionStage<Written> compareAndSet(
      String key, VersionedText found, @Nullable String text) {
    if (found.text() != null && changesBefore.test(key)) {
      documents.compareAndSet(key, found, found.text());
    }
    Loss loss = losses.apply(key);
    if (loss == Loss.LATE) {
      late.add(() -> documents.compareAndSet(key, found, text));
    }
    CompletionStage<Written> writing =
        loss == Loss.REQUEST || loss == Loss.LATE
            ? CompletableFuture.completedFuture(new Written(true, null))
            : documents.compareAndSet(key, found, text);
    return writing.thenComposeAsync(
        written ->
            loss == Loss.NOTHING
                ? CompletableFuture.completedFuture(written)
                : CompletableFuture.failedFuture(new StoreUnavailableException("no answer")),
        threads);
  }

  @Override
  public CompletionStage<List<String>> scan(String prefix, String after, int limit) {
    return documents.scan(prefix, after, limit).thenApplyAsync(keys -> keys, threads);
  }

  @Override
  public Runnable watch(String key, Consumer<@Nullable VersionedText> changed) {
    return documents.watch(key, changed);
  }

  @Override
  public long micros() {
    return documents.micros();
  }
}
