package io.mortise.jdbc;

import io.mortise.LockName;
import io.mortise.jdbc.batch.ConnectionExecutor;
import io.mortise.jdbc.batch.StoreTask;
import io.mortise.spi.Fact;
import io.mortise.support.table.LockRecord;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The facts of a store, in a table of their own. Thread-safe. */
final class JdbcFacts {
  private static final Logger log = LoggerFactory.getLogger(JdbcFacts.class);

  private final ConnectionExecutor requests;
  private final String storeName;

  /** Whether it was said that they cannot be removed. */
  private final AtomicBoolean warned = new AtomicBoolean();

  JdbcFacts(ConnectionExecutor requests, String storeName) {
    this.requests = requests;
    this.storeName = storeName;
  }

  CompletableFuture<Fact> read(LockName name) {
    return submit(
        StoreTask.ValueTask.single(
            storeConnection -> storeConnection.facts.read(name.value(), storeConnection.now())));
  }

  CompletableFuture<Long> replace(LockName name, long version, String content, Duration keep) {
    return submit(
        new StoreTask.ValueTask<>(
            storeConnection ->
                storeConnection.facts.replace(
                    name.value(),
                    version,
                    content,
                    LockRecord.micros(keep),
                    storeConnection.now())));
  }

  /** Tables of an earlier release may lack that of facts, and locks do without it. */
  CompletableFuture<Integer> sweep(int budget) {
    return submit(
            new StoreTask.ValueTask<>(
                storeConnection -> storeConnection.facts.sweep(budget, storeConnection.now())))
        .exceptionally(
            failure -> {
              if (warned.compareAndSet(false, true)) {
                log.warn(
                    "What once, latches and barriers left in store {} cannot be removed. If table"
                        + " mortise_fact is missing, make it from schema.sql of the jdbc module.",
                    storeName,
                    failure);
              }
              return 0;
            });
  }

  private <T> CompletableFuture<T> submit(StoreTask.ValueTask<T> task) {
    requests.submit(task);
    return task.answer;
  }
}
