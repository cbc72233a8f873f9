package io.mortise.simulation;

import io.mortise.internal.client.EngineClient;
import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.runtime.EngineRules;
import io.mortise.internal.runtime.SystemEnv;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.LockStore;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import io.mortise.support.liveness.ForwardingStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/** Forwards all calls of an engine to a store, except those that a test overrides. */
class InterceptingStore extends ForwardingStore {
  InterceptingStore(LockStore store) {
    super(store);
  }

  /** A real client of a store. */
  static EngineClient client(LockStore store, String name, Duration ttl, EngineRules rules) {
    SystemEnv system = new SystemEnv();
    EngineEnv env = system.env(ttl, new ClientLabel("-", 1, name));
    return new EngineClient(
        store,
        new EngineEnv(
            env.ticker(),
            env.timers(),
            env.renewals(),
            env.callbacks(),
            env.suspended(),
            env.random(),
            rules,
            env.ttl(),
            env.client()),
        system::close);
  }

  void submit(StoreSession session, Request request, Consumer<Reply> sink) {
    session.submit(request, sink);
  }

  void submitLater(StoreSession session, Request request, Consumer<Reply> sink) {
    submit(session, request, sink);
  }

  CompletionStage<Renewal> renew(StoreSession session, long previous, long next, List<Long> seen) {
    return session.renew(previous, next, seen);
  }

  void hint(Consumer<SessionNotification> hints, SessionNotification sessionNotification) {
    hints.accept(sessionNotification);
  }

  @Override
  public StoreSession open(SessionSpec spec, Consumer<SessionNotification> hints) {
    StoreSession session =
        super.open(spec, sessionNotification -> hint(hints, sessionNotification));
    return new StoreSession() {
      @Override
      public SessionId id() {
        return session.id();
      }

      @Override
      public void submit(Request request, Consumer<Reply> sink) {
        InterceptingStore.this.submit(session, request, sink);
      }

      @Override
      public void submitLater(Request request, Consumer<Reply> sink) {
        InterceptingStore.this.submitLater(session, request, sink);
      }

      @Override
      public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen) {
        return InterceptingStore.this.renew(session, previous, next, seen);
      }

      @Override
      public CompletionStage<Void> close() {
        return session.close();
      }
    };
  }

  @Override
  public void close() {}
}
