package io.mortise.redis;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a server that has no memory left may forget sooner: records of idle locks, which are kept
 * for the shortest retention that anybody may choose from then on. Nothing that is held or waited
 * for is touched, and no record is removed at once, for a release may yet be asked about.
 */
final class IdleRecordTrimmer {
  private static final Logger log = LoggerFactory.getLogger(IdleRecordTrimmer.class);

  /** Records that one call looks at: some 100 µs of the server. */
  private static final int AT_ONCE = 200;

  /** Calls for each refusal, so that the server has time for others. */
  private static final int CALLS = 100;

  private final RedisLockStore store;
  private final AtomicBoolean running = new AtomicBoolean();

  /** Where the next walk goes on. Belongs to the walk. */
  private volatile String cursor = "0";

  IdleRecordTrimmer(RedisLockStore store) {
    this.store = store;
  }

  /** The server refused a new lock for want of memory. Returns at once. */
  void begin() {
    if (running.compareAndSet(false, true)) {
      var unused =
          walk(CALLS)
              .whenComplete(
                  (done, failure) -> {
                    running.set(false);
                    if (failure != null) {
                      log.debug("Cannot shorten what is kept (store={})", store, failure);
                    }
                  });
    }
  }

  private CompletionStage<Boolean> walk(int calls) {
    return store
        .scanKeys(cursor, store.keys().everyLock(), AT_ONCE)
        .thenCompose(
            found -> {
              cursor = found.cursor();
              return found.keys().isEmpty()
                  ? CompletableFuture.completedFuture(true)
                  : store
                      .call(
                          Script.SHORTEN,
                          found.keys(),
                          List.of(Long.toString(RedisStore.SHORTEST_RETENTION.toMillis())))
                      .thenApply(shortened -> true);
            })
        .thenCompose(
            looked ->
                cursor.equals("0") || calls == 1
                    ? CompletableFuture.completedFuture(looked)
                    : walk(calls - 1));
  }
}
