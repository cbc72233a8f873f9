package io.mortise.spi.partition;

import io.mortise.spi.LockQuery;
import io.mortise.spi.LockView;
import io.mortise.spi.LockViewPage;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Where a page begins in a store of several parts.
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
      // Said below.
    }
    throw new IllegalArgumentException("'" + text + "' is not a cursor of this store.");
  }

  /** Fills the page up from the parts that follow. */
  CompletionStage<LockViewPage> goOn(PartitionedStore store, LockQuery query, LockViewPage page) {
    String next = page.next();
    if (next != null) {
      return CompletableFuture.completedFuture(new LockViewPage(page.locks(), part + ":" + next));
    }
    int room = query.limit() - page.locks().size();
    int following = part + 1;
    if (following == store.partitions()) {
      return CompletableFuture.completedFuture(page);
    } else if (room == 0) {
      return CompletableFuture.completedFuture(new LockViewPage(page.locks(), following + ":"));
    }
    return store
        .inspect(new LockQuery(null, following + ":", room, query.idle()))
        .thenApply(
            rest -> {
              List<LockView> locks = new ArrayList<>(page.locks());
              locks.addAll(rest.locks());
              return new LockViewPage(locks, rest.next());
            });
  }
}
