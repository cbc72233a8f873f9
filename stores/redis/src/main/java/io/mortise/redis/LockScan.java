package io.mortise.redis;

import io.mortise.LockName;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.redis.codec.KeySpace;
import io.mortise.redis.codec.ViewCodec;
import io.mortise.redis.command.ScanPager;
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

/** Walks over the records of all locks by SCAN, to list or to sweep them. */
final class LockScan {
  private static final Logger log = LoggerFactory.getLogger(LockScan.class);

  /** The most waiters and holders listed for one lock. */
  private static final int PARTIES = 1000;

  private final RedisLockStore store;
  private final KeySpace keys;

  /** Keys found by SCAN and not yet swept; its monitor guards {@link #sweepCursor} too. */
  private final Queue<String> unswept = new ArrayDeque<>();

  /** Cursor at which the next sweep continues. */
  private String sweepCursor = "0";

  LockScan(RedisLockStore store, KeySpace keys) {
    this.store = store;
    this.keys = keys;
  }

  CompletionStage<Page<LockInfo>> inspect(LockQuery query) {
    String name = query.name();
    if (name != null) {
      return shown(query, view(keys.lock(LockName.of(name))))
          .thenApply(view -> new Page<>(view.stream().toList(), null));
    }
    String pattern = keys.everyLock(query.prefix());
    return ScanPager.filling(
            (cursor, count) -> store.scanKeys(cursor, pattern, count),
            record -> shown(query, view(record)))
        .page(query.cursor(), query.limit())
        .thenApply(page -> new Page<>(page.items(), page.next()));
  }

  private static CompletionStage<Optional<LockInfo>> shown(
      LockQuery query, CompletionStage<Optional<LockInfo>> view) {
    return view.thenApply(found -> found.filter(lock -> query.idle() || !isIdle(lock)));
  }

  private CompletionStage<Optional<LockInfo>> view(String record) {
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

  /** A foreign value under our prefix must not hide the locks beside it. */
  private Optional<LockInfo> decoded(String record, List<String> told) {
    try {
      return Optional.of(ViewCodec.decode(keys.nameOf(record), told));
    } catch (RuntimeException e) {
      log.debug("Passed over a key that is not ours (store={}, key={})", store, record, e);
      return Optional.empty();
    }
  }

  private static boolean isIdle(LockInfo view) {
    return view.holders().isEmpty()
        && view.waiters().isEmpty()
        && view.shutFor().equals(Duration.ZERO);
  }

  /**
   * Sessions, notifications and idle records expire by themselves; holds of dead sessions do not.
   */
  CompletionStage<Integer> sweep(int budget) {
    return found(budget, 0).thenCompose(store::sweep);
  }

  /** The next records to look at: as many as the budget allows, or the rest of this walk. */
  private CompletionStage<List<String>> found(int budget, int round) {
    List<String> records = new ArrayList<>();
    String cursor;
    synchronized (unswept) {
      cursor = sweepCursor;
      boolean enough =
          unswept.size() >= budget
              || round == ScanPager.ROUNDS
              || (round > 0 && cursor.equals("0"));
      while (enough && records.size() < budget && !unswept.isEmpty()) {
        records.add(unswept.remove());
      }
      if (enough) {
        return CompletableFuture.completedFuture(records);
      }
    }
    return store
        .scanKeys(cursor, keys.everyLock(), Math.min(budget, ScanPager.KEYS_PER_SCAN))
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
