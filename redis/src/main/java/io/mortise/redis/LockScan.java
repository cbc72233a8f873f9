package io.mortise.redis;

import io.mortise.redis.codec.KeySpace;
import io.mortise.redis.codec.ViewCodec;
import io.mortise.spi.LockQuery;
import io.mortise.spi.LockView;
import io.mortise.spi.LockViewPage;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Walks over the records of all locks by SCAN. Each lock is a snapshot of its own; a lock that is
 * there all the time is found, perhaps twice.
 */
final class LockScan {
  private static final Logger log = LoggerFactory.getLogger(LockScan.class);

  /** Waiters and holders shown of one lock. */
  private static final int PARTIES = 1000;

  /** SCANs of one page at most, for a server that holds millions of other keys. */
  private static final int ROUNDS = 200;

  private static final int KEYS_PER_SCAN = 500;

  private final RedisLockStore store;
  private final KeySpace keys;

  /** Found by SCAN but not swept yet; guards {@link #sweepCursor} too. */
  private final Queue<String> unswept = new ArrayDeque<>();

  /** Where the next sweep goes on. */
  private String sweepCursor = "0";

  LockScan(RedisLockStore store, KeySpace keys) {
    this.store = store;
    this.keys = keys;
  }

  /** A cursor of ours: that of a SCAN, and how many of its keys were shown already. */
  private record ScanPosition(String cursor, int shown) {
    static ScanPosition parse(String text) {
      int slash = text.indexOf('/');
      return new ScanPosition(
          text.substring(0, slash), Integer.parseInt(text.substring(slash + 1)));
    }

    @Override
    public String toString() {
      return cursor + "/" + shown;
    }
  }

  CompletionStage<LockViewPage> inspect(LockQuery query) {
    if (query.name() != null) {
      return view(keys.lock(query.name()))
          .thenApply(
              view ->
                  new LockViewPage(
                      view.filter(found -> query.idle() || !isIdle(found)).stream().toList(),
                      null));
    }
    ScanPosition start;
    try {
      start =
          query.cursor() == null ? new ScanPosition("0", 0) : ScanPosition.parse(query.cursor());
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(
          new IllegalArgumentException("'" + query.cursor() + "' is not a cursor of this store."));
    }
    return page(query, start, new ArrayList<>(), 0);
  }

  private CompletionStage<LockViewPage> page(
      LockQuery query, ScanPosition place, List<LockView> views, int round) {
    return store
        .scanKeys(place.cursor(), keys.everyLock(), KEYS_PER_SCAN)
        .thenCompose(
            found -> {
              List<String> fresh =
                  found
                      .keys()
                      .subList(Math.min(place.shown(), found.keys().size()), found.keys().size());
              // Busy locks are few among the idle: ask for no more than can be shown.
              int room = query.limit() - views.size();
              List<String> asked = fresh.subList(0, Math.min(room, fresh.size()));
              return all(asked)
                  .thenCompose(
                      seen -> {
                        seen.stream()
                            .filter(view -> query.idle() || !isIdle(view))
                            .forEach(views::add);
                        ScanPosition next =
                            asked.size() < fresh.size()
                                ? new ScanPosition(place.cursor(), place.shown() + asked.size())
                                : new ScanPosition(found.cursor(), 0);
                        boolean end = next.shown() == 0 && next.cursor().equals("0");
                        if (end || views.size() == query.limit() || round == ROUNDS) {
                          return CompletableFuture.completedFuture(
                              new LockViewPage(views, end ? null : next.toString()));
                        }
                        return page(query, next, views, round + 1);
                      });
            });
  }

  private CompletionStage<List<LockView>> all(List<String> records) {
    CompletableFuture<List<LockView>> views = CompletableFuture.completedFuture(new ArrayList<>());
    for (String record : records) {
      views =
          views.thenCombine(
              view(record),
              (list, view) -> {
                view.ifPresent(list::add);
                return list;
              });
    }
    return views;
  }

  private CompletionStage<Optional<LockView>> view(String record) {
    return store
        .call(Script.INSPECT, List.of(record), List.of(keys.prefix(), Integer.toString(PARTIES)))
        .thenApply(
            answer -> {
              List<String> told = new ArrayList<>();
              for (Object part : answer instanceof List<?> list ? list : List.of()) {
                told.add(String.valueOf(part));
              }
              return told.isEmpty() ? Optional.empty() : decoded(record, told);
            });
  }

  /** What somebody else wrote under our prefix must not hide the locks that are there. */
  private Optional<LockView> decoded(String record, List<String> told) {
    try {
      return Optional.of(ViewCodec.decode(keys.nameOf(record), told));
    } catch (RuntimeException e) {
      log.debug("Passed over a key that is not ours (store={}, key={})", store, record, e);
      return Optional.empty();
    }
  }

  private static boolean isIdle(LockView view) {
    return view.holders().isEmpty()
        && view.waiters().isEmpty()
        && view.closedFor().equals(Duration.ZERO);
  }

  /** Sessions, notifications and idle records expire by themselves; holds of the dead do not. */
  CompletionStage<Integer> sweep(int budget) {
    return found(budget, 0).thenCompose(store::sweep);
  }

  /** The next records to look at: as many as the budget allows, or what is left of this walk. */
  private CompletionStage<List<String>> found(int budget, int round) {
    List<String> records = new ArrayList<>();
    String cursor;
    synchronized (unswept) {
      cursor = sweepCursor;
      boolean enough =
          unswept.size() >= budget || round == ROUNDS || (round > 0 && cursor.equals("0"));
      while (enough && records.size() < budget && !unswept.isEmpty()) {
        records.add(unswept.remove());
      }
      if (enough) {
        return CompletableFuture.completedFuture(records);
      }
    }
    return store
        .scanKeys(cursor, keys.everyLock(), Math.min(budget, KEYS_PER_SCAN))
        .thenCompose(
            next -> {
              synchronized (unswept) {
                sweepCursor = next.cursor();
                unswept.addAll(next.keys());
              }
              return found(budget, round + 1);
            });
  }
}
