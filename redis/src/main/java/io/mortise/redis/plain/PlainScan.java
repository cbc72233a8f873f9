package io.mortise.redis.plain;

import io.mortise.LockName;
import io.mortise.spi.LockQuery;
import io.mortise.spi.LockView;
import io.mortise.spi.LockViewPage;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Looks at locks: at one by its key, or at all that begin with the prefix. */
final class PlainScan {
  private static final int KEYS_PER_SCAN = 500;

  /** SCANs of one page at most, for a server that holds millions of other keys. */
  private static final int ROUNDS = 200;

  private final PlainStore store;

  PlainScan(PlainStore store) {
    this.store = store;
  }

  CompletionStage<LockViewPage> inspect(LockQuery query) {
    LockName name = query.name();
    if (name != null) {
      return plain(view(name).thenApply(view -> new LockViewPage(view.stream().toList(), null)));
    }
    String cursor = query.cursor() == null ? "0/0" : query.cursor();
    if (!cursor.matches("\\d{1,20}/\\d{1,9}")) {
      return CompletableFuture.failedFuture(
          new IllegalArgumentException("'" + cursor + "' is not a cursor of this store."));
    }
    int slash = cursor.indexOf('/');
    return plain(
        page(
            query.limit(),
            cursor.substring(0, slash),
            Integer.parseInt(cursor.substring(slash + 1)),
            new ArrayList<>(),
            0));
  }

  /** Fails as the SPI says, not by a trouble of our own. */
  private static <T> CompletionStage<T> plain(CompletableFuture<T> stage) {
    return stage.exceptionallyCompose(
        failure -> {
          CommandExecutor.CommandFailure commandFailure =
              CommandExecutor.CommandFailure.of(failure);
          return CompletableFuture.failedFuture(
              commandFailure == null ? failure : commandFailure.failure);
        });
  }

  private CompletableFuture<Optional<LockView>> view(LockName name) {
    return store
        .who(store.renewals(), store.key(name))
        .thenApply(holder -> holder.map(found -> found.view(name)));
  }

  /** A cursor of ours is that of a SCAN, and how many of its keys were shown already. */
  private CompletableFuture<LockViewPage> page(
      int limit, String cursor, int shown, List<LockView> views, int round) {
    return store
        .renewals()
        .call(
            RedisCommand.of(
                "SCAN",
                cursor,
                "MATCH",
                pattern(store.options().prefix()),
                "COUNT",
                Integer.toString(KEYS_PER_SCAN)))
        .thenCompose(
            answer -> {
              if (!(answer instanceof List<?> parts)
                  || parts.size() != 2
                  || !(parts.get(1) instanceof List<?> found)) {
                throw new IllegalStateException("SCAN was answered in another form.");
              }
              int from = Math.min(shown, found.size());
              int to = Math.min(found.size(), from + limit - views.size());
              String next =
                  to < found.size() ? cursor + "/" + to : String.valueOf(parts.get(0)) + "/0";
              return all(found.subList(from, to))
                  .thenCompose(
                      seen -> {
                        views.addAll(seen);
                        boolean end = next.equals("0/0");
                        if (end || views.size() == limit || round == ROUNDS) {
                          return CompletableFuture.completedFuture(
                              new LockViewPage(views, end ? null : next));
                        }
                        int slash = next.indexOf('/');
                        return page(
                            limit,
                            next.substring(0, slash),
                            Integer.parseInt(next.substring(slash + 1)),
                            views,
                            round + 1);
                      });
            });
  }

  private CompletableFuture<List<LockView>> all(List<?> keys) {
    CompletableFuture<List<LockView>> views = CompletableFuture.completedFuture(new ArrayList<>());
    for (Object key : keys) {
      Optional<LockName> name = name(String.valueOf(key));
      if (name.isPresent()) {
        views =
            views.thenCombine(
                view(name.get()),
                (list, view) -> {
                  view.ifPresent(list::add);
                  return list;
                });
      }
    }
    return views;
  }

  /** Not every key that begins like one of ours is one. */
  private Optional<LockName> name(String key) {
    try {
      return Optional.of(LockName.of(key.substring(store.options().prefix().length())));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  private static String pattern(String prefix) {
    return prefix.replaceAll("([\\\\*?\\[\\]])", "\\\\$1") + "*";
  }
}
