package io.mortise.spi.document;

import io.mortise.StoreUnavailableException;
import io.mortise.spi.document.VersionedDocuments.VersionedText;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Changes a document by compare-and-set: reads it, takes a step, writes it; again if another
 * process has written meanwhile. Thread-safe.
 */
record DocumentUpdater(VersionedDocuments documents) {
  /**
   * Each failed try means that another process got on. So many in a row are not met, unless the
   * server compares wrongly: better an error than a loop.
   */
  private static final int TRIES = 100;

  /**
   * What a step makes of a document.
   *
   * @param changed whether the document is to be written
   * @param text the document from now on; null for none
   */
  record Update<T>(boolean changed, @Nullable String text, T result) {}

  /** Takes a step with the document as it is; perhaps several times. */
  <T> CompletionStage<T> update(
      String key, Function<VersionedText, CompletionStage<Update<T>>> step) {
    return update(key, step, TRIES);
  }

  private <T> CompletionStage<T> update(
      String key, Function<VersionedText, CompletionStage<Update<T>>> step, int tries) {
    return documents
        .read(key)
        .thenCompose(
            found ->
                step.apply(found).thenCompose(update -> write(key, found, update, step, tries)));
  }

  private <T> CompletionStage<T> write(
      String key,
      VersionedText found,
      Update<T> update,
      Function<VersionedText, CompletionStage<Update<T>>> step,
      int tries) {
    if (!update.changed()) {
      return CompletableFuture.completedFuture(update.result());
    }
    return documents
        .compareAndSet(key, found, update.text())
        .thenCompose(
            written ->
                written
                    ? CompletableFuture.completedFuture(update.result())
                    : tries > 1
                        ? update(key, step, tries - 1)
                        : CompletableFuture.failedFuture(
                            new StoreUnavailableException(
                                "Document '%s' had changed %d times in a row between its read and its write. Nothing was written. Look for another program that writes it."
                                    .formatted(key, TRIES))));
  }
}
