package io.mortise.quorum;

import io.mortise.spi.LockStore;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import io.mortise.support.liveness.ForwardingStore;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/** A member whose requests and renewals are executed, and answered, by an executor. */
final class AsyncMember extends ForwardingStore {
  private final Executor executor;

  AsyncMember(LockStore store, Executor executor) {
    super(store);
    this.executor = executor;
  }

  @Override
  public StoreSession open(SessionSpec spec, Consumer<SessionNotification> hints) {
    StoreSession session = super.open(spec, hints);
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
}
