package io.mortise.support.partition;

import io.mortise.LockName;
import io.mortise.admin.Eviction;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.admin.SessionInfo;
import io.mortise.annotation.Beta;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Fact;
import io.mortise.spi.LockStore;
import io.mortise.spi.PartitionedStore;
import io.mortise.spi.Reply;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.SessionVerdict;
import io.mortise.spi.StoreSession;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A store of several parts that routes each request to the part which has to answer it. The
 * implementor connects to the parts.
 */
public interface PartitionRouter extends PartitionedStore {
  /** Unsupported: sessions belong to a part. */
  @Override
  default StoreSession open(SessionSpec spec, Consumer<SessionNotification> hints) {
    throw new UnsupportedOperationException(
        "Store '" + profile().display() + "' has parts; open the session in one of them.");
  }

  /** Unsupported: sessions belong to a part. */
  @Override
  default CompletionStage<SessionVerdict> judge(SessionId session) {
    throw new UnsupportedOperationException(
        "Store '" + profile().display() + "' has parts; judge the session in its own.");
  }

  /**
   * {@inheritDoc}
   *
   * <p>Reads the parts one after the other; a part that does not answer fails the page.
   */
  @Override
  default CompletionStage<Page<LockInfo>> inspect(LockQuery query) {
    LockName name = query.name() == null ? null : LockName.of(query.name());
    if (name != null) {
      return partition(partitionOf(name)).inspect(query);
    }
    return PartitionCursor.page(
        query.cursor(),
        query.limit(),
        partitions(),
        (part, cursor, limit) -> partition(part).inspect(query.page(cursor, limit)));
  }

  /**
   * {@inheritDoc}
   *
   * <p>A process has a session in each part that it uses. Reads the parts one after the other; a
   * part that does not answer fails the page.
   */
  @Beta
  @Override
  default CompletionStage<Page<SessionInfo>> sessions(@Nullable String cursor, int limit) {
    return PartitionCursor.page(
        cursor,
        limit,
        partitions(),
        (part, within, room) -> partition(part).sessions(within, room));
  }

  @Override
  default CompletionStage<Reply.Ended> evict(LockName name, AttemptId attempt, Eviction how) {
    return partition(partitionOf(name)).evict(name, attempt, how);
  }

  @Override
  default CompletionStage<Boolean> reopen(LockName name) {
    return partition(partitionOf(name)).reopen(name);
  }

  @Beta
  @Override
  default CompletionStage<Fact> readFact(LockName name) {
    return partition(partitionOf(name)).readFact(name);
  }

  @Beta
  @Override
  default CompletionStage<Long> replaceFact(
      LockName name, long version, String content, Duration keep) {
    return partition(partitionOf(name)).replaceFact(name, version, content, keep);
  }

  /**
   * {@inheritDoc}
   *
   * <p>Sweeps parts until the budget is used up or each was swept once.
   */
  @Override
  default CompletionStage<Integer> sweep(int budget) {
    AtomicInteger left = new AtomicInteger(budget);
    CompletionStage<Integer> removed = CompletableFuture.completedFuture(0);
    for (int i = 0; i < partitions(); i++) {
      LockStore part = partition(i);
      removed =
          removed.thenCompose(
              before ->
                  left.get() <= 0
                      ? CompletableFuture.completedFuture(before)
                      : part.sweep(left.get())
                          .thenApply(
                              count -> {
                                left.addAndGet(-count);
                                return before + count;
                              }));
    }
    return removed;
  }
}
