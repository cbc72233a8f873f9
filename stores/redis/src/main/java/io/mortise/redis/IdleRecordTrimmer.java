package io.mortise.redis;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Shortens the retention of idle locks' records on a server that is out of memory, to the shortest
 * retention that can be configured. Locks with a holder or waiters are untouched. No record is
 * removed at once, since a release may still be checked against it.
 */
final class IdleRecordTrimmer {
  private static final Logger log = LoggerFactory.getLogger(IdleRecordTrimmer.class);

  /** Records that one call looks at: some 100 µs of server time. */
  private static final int AT_ONCE = 200;

  /** Calls for each refusal, so that the server has time for other clients. */
  private static final int CALLS = 100;

  private final RedisLockStore store;
  private final AtomicBoolean running = new AtomicBoolean();

  /** Cursor at which the next walk continues. Used by the walk only. */
  private volatile String cursor = "0";

  IdleRecordTrimmer(RedisLockStore store) {
    this.store = store;
  }

  /** Called when the server refused a new lock for want of memory. Returns at once. */
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
