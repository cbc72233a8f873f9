package io.mortise.support.partition;

import io.mortise.admin.Page;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The begin of a page in a store of several parts.
 *
 * @param within the part's own cursor; null at its beginning
 */
record PartitionCursor(int part, @Nullable String within) {
  static PartitionCursor parse(@Nullable String text, int parts) {
    if (text == null) {
      return new PartitionCursor(0, null);
    }
    int colon = text.indexOf(':');
    try {
      int part = Integer.parseInt(text.substring(0, Math.max(0, colon)));
      if (part >= 0 && part < parts) {
        String within = text.substring(colon + 1);
        return new PartitionCursor(part, within.isEmpty() ? null : within);
      }
    } catch (NumberFormatException e) {
      // The exception is thrown below.
    }
    throw new IllegalArgumentException("'" + text + "' is not a cursor of this store.");
  }

  /** A query for a page of one part; a null cursor is its beginning. */
  interface PartitionQuery<T> {
    CompletionStage<Page<T>> page(int part, @Nullable String cursor, int limit);
  }

  /** A page that begins at the cursor, filled up from the parts that follow. */
  static <T> CompletionStage<Page<T>> page(
      @Nullable String cursor, int limit, int parts, PartitionQuery<T> query) {
    PartitionCursor begin;
    try {
      begin = parse(cursor, parts);
    } catch (IllegalArgumentException e) {
      return CompletableFuture.failedFuture(e);
    }
    return query
        .page(begin.part(), begin.within(), limit)
        .thenCompose(page -> begin.goOn(page, limit, parts, query));
  }

  private <T> CompletionStage<Page<T>> goOn(
      Page<T> page, int limit, int parts, PartitionQuery<T> query) {
    String next = page.next();
    int room = limit - page.items().size();
    int following = part + 1;
    if (next != null) {
      return CompletableFuture.completedFuture(new Page<>(page.items(), part + ":" + next));
    } else if (following == parts) {
      return CompletableFuture.completedFuture(page);
    } else if (room == 0) {
      return CompletableFuture.completedFuture(new Page<>(page.items(), following + ":"));
    }
    return page(following + ":", room, parts, query)
        .thenApply(
            rest -> {
              List<T> items = new ArrayList<>(page.items());
              items.addAll(rest.items());
              return new Page<>(items, rest.next());
            });
  }
}
