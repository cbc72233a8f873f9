package io.mortise.redis.plain;

import io.mortise.LockName;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.redis.codec.KeySpace;
import io.mortise.redis.command.ScanPager;
import io.mortise.redis.command.ScanPager.FoundKeys;
import io.mortise.redis.transport.RedisReplies;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Inspects locks: one by its key, or all that begin with the prefix. */
final class PlainScan {
  private final PlainStore store;

  PlainScan(PlainStore store) {
    this.store = store;
  }

  CompletionStage<Page<LockInfo>> inspect(LockQuery query) {
    LockName name = query.name() == null ? null : LockName.of(query.name());
    if (name != null && PlainKeys.isFact(name)) {
      return CompletableFuture.completedFuture(new Page<>(List.of(), null));
    } else if (name != null) {
      return plain(view(name).thenApply(view -> new Page<>(view.stream().toList(), null)));
    }
    String pattern = KeySpace.pattern(store.options().prefix() + query.prefix());
    return plain(
        ScanPager.filling((cursor, count) -> scan(cursor, pattern, count), this::view)
            .page(query.cursor(), query.limit())
            .thenApply(page -> new Page<>(page.items(), page.next())));
  }

  /** Fails as the SPI demands, without the wrapper of a stage. */
  private static <T> CompletionStage<T> plain(CompletionStage<T> stage) {
    return stage.exceptionallyCompose(
        failure -> CompletableFuture.failedStage(RedisReplies.unwrap(failure)));
  }

  private CompletionStage<FoundKeys> scan(String cursor, String pattern, int count) {
    return store
        .renewals()
        .call(RedisCommand.of(FoundKeys.command(cursor, pattern, count)))
        .thenApply(FoundKeys::parse);
  }

  private CompletionStage<Optional<LockInfo>> view(String key) {
    return name(key)
        .map(this::view)
        .orElseGet(() -> CompletableFuture.completedFuture(Optional.empty()));
  }

  private CompletableFuture<Optional<LockInfo>> view(LockName name) {
    return store.keys().holder(name).thenApply(holder -> holder.map(found -> found.view(name)));
  }

  /** Not every key with our prefix is a lock. */
  private Optional<LockName> name(String key) {
    try {
      return Optional.of(LockName.of(key.substring(store.options().prefix().length())))
          .filter(name -> !PlainKeys.isFact(name));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }
}
