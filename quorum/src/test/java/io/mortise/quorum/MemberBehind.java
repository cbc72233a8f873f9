package io.mortise.quorum;

import io.mortise.spi.AttemptId;
import io.mortise.spi.LockName;
import io.mortise.spi.LockPage;
import io.mortise.spi.LockQuery;
import io.mortise.spi.LockStore;
import io.mortise.spi.News;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreSession;
import io.mortise.spi.Verdict;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/** A member whose requests and renewals are done, and answered, when an executor comes to it. */
record MemberBehind(LockStore store, Executor executor) implements LockStore {
  @Override
  public StoreProfile profile() {
    return store.profile();
  }

  @Override
  public StoreSession open(SessionSpec spec, Consumer<News> hints) {
    StoreSession session = store.open(spec, hints);
    return new StoreSession() {
      @Override
      public SessionId id() {
        return session.id();
      }

      @Override
      public void submit(Request request, Consumer<Reply> sink) {
        executor.execute(() -> session.submit(request, sink));
      }

      @Override
      public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen) {
        return CompletableFuture.supplyAsync(
            () -> session.renew(previous, next, seen).toCompletableFuture().join(), executor);
      }

      @Override
      public CompletionStage<Void> close() {
        return session.close();
      }
    };
  }

  @Override
  public CompletionStage<Verdict> judge(SessionId session) {
    return store.judge(session);
  }

  @Override
  public CompletionStage<LockPage> inspect(LockQuery query) {
    return store.inspect(query);
  }

  @Override
  public CompletionStage<Reply.Ended> evict(LockName name, AttemptId attempt, Eviction how) {
    return store.evict(name, attempt, how);
  }

  @Override
  public CompletionStage<Integer> sweep(int budget) {
    return store.sweep(budget);
  }

  @Override
  public void close() {}
}
