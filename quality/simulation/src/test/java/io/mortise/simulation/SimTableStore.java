package io.mortise.simulation;

import io.mortise.LockName;
import io.mortise.admin.Eviction;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.SessionVerdict;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreSession;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A process's connection to a lock table. It keeps the SPI's promises: each request gets exactly
 * one reply, and is executed within {@code maxInFlight} of sending or never. Requests of one name
 * are executed in order, except copies and stragglers of a broken connection.
 */
final class SimTableStore extends SimStore {
  private final SimTableServer server;

  SimTableStore(
      VirtualTimeScheduler virtualTimeScheduler,
      SimTableServer server,
      SimProcess simProcess,
      SimTransport wire) {
    super(
        virtualTimeScheduler,
        server,
        simProcess,
        wire,
        new StoreProfile(
            "sim",
            server.settings.capabilities,
            Duration.ofNanos(server.settings.maxInFlight),
            Duration.ofMillis(1),
            Duration.ofMillis(1)));
    this.server = server;
  }

  void push(SessionId session, SessionNotification sessionNotification) {
    if (canPush()) {
      pushes.push(() -> deliver(session, sessionNotification));
    }
  }

  @Override
  StoreSession connect(SessionSpec spec) {
    server.register(spec.id(), this);
    return new TableSession(spec);
  }

  @Override
  public CompletionStage<SessionVerdict> judge(SessionId session) {
    return ask(() -> server.judge(session));
  }

  @Override
  public CompletionStage<Page<LockInfo>> inspect(LockQuery query) {
    return ask(() -> server.inspect(query));
  }

  @Override
  public CompletionStage<Reply.Ended> evict(LockName name, AttemptId attempt, Eviction how) {
    return ask(() -> server.evict(name, attempt, how));
  }

  @Override
  public CompletionStage<Integer> sweep(int budget) {
    return ask(server::sweep);
  }

  private <T> CompletionStage<T> ask(Supplier<T> step) {
    CompletableFuture<T> future = new CompletableFuture<>();
    requests.send(step, future::complete, failure -> future.completeExceptionally(failure.cause()));
    return future;
  }

  private final class TableSession implements StoreSession {
    private final SessionSpec spec;

    TableSession(SessionSpec spec) {
      this.spec = spec;
    }

    @Override
    public SessionId id() {
      return spec.id();
    }

    @Override
    public void submit(Request request, Consumer<Reply> sink) {
      requests.send(
          () -> server.apply(request),
          sink,
          failure ->
              sink.accept(
                  new Reply.Failed(request.attempt(), failure.mayHaveRun(), failure.cause())));
    }

    @Override
    public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen) {
      return renew(previous, next, seen, spec.ttl());
    }

    @Override
    public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen, Duration ttl) {
      CompletableFuture<Renewal> future = new CompletableFuture<>();
      renewals.send(
          () -> server.renew(spec, previous, next, seen, ttl),
          future::complete,
          failure -> future.complete(new Renewal.Unknown(failure.cause())));
      return future;
    }

    @Override
    public CompletionStage<Void> close() {
      CompletableFuture<Void> future = new CompletableFuture<>();
      requests.send(
          () -> {
            server.close(spec.id());
            return true;
          },
          done -> future.complete(null),
          failure -> future.completeExceptionally(failure.cause()));
      return future;
    }
  }
}
