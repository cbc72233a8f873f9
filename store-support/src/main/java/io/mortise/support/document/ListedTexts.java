package io.mortise.support.document;

import io.mortise.support.document.VersionedDocuments.ListedText;
import io.mortise.support.document.VersionedDocuments.VersionedText;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/** Processes many documents, some at a time, so that a page of 1,000 does not flood a server. */
final class ListedTexts {
  static final int TOGETHER = 16;

  private ListedTexts() {}

  /** Reads documents. A lock's key that names no lock is another program's, and is not read. */
  static CompletionStage<List<ListedText>> read(VersionedDocuments documents, List<String> keys) {
    return each(
        keys,
        key ->
            key.startsWith(LockUpdater.PREFIX) && LockUpdater.name(key).isEmpty()
                ? CompletableFuture.completedFuture(new ListedText(key, VersionedText.ABSENT))
                : documents.read(key).thenApply(found -> new ListedText(key, found)));
  }

  /** The results of a step for each document, in order. */
  static <T, R> CompletionStage<List<R>> each(List<T> all, Function<T, CompletionStage<R>> step) {
    CompletionStage<List<R>> results = CompletableFuture.completedFuture(new ArrayList<>());
    for (int from = 0; from < all.size(); from += TOGETHER) {
      List<T> chunk = all.subList(from, Math.min(from + TOGETHER, all.size()));
      results = results.thenCompose(before -> addEach(before, chunk, step));
    }
    return results;
  }

  private static <T, R> CompletionStage<List<R>> addEach(
      List<R> before, List<T> chunk, Function<T, CompletionStage<R>> step) {
    CompletionStage<List<R>> results = CompletableFuture.completedFuture(before);
    for (T one : chunk) {
      results =
          results.thenCombine(
              step.apply(one),
              (page, result) -> {
                page.add(result);
                return page;
              });
    }
    return results;
  }
}
