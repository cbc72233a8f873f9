package io.mortise.simulation;

import io.mortise.LockName;
import io.mortise.admin.Eviction;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.LockQuery;
import io.mortise.spi.LockStore;
import io.mortise.spi.LockViewPage;
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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A process's way to the store: one lane for requests, one for renewals, one for pushes, each with
 * its own delays and troubles. What it promises is what the SPI asks of a store: each request gets
 * exactly one reply, and is executed within {@code maxInFlight} after it was sent or never; those
 * of one name are executed in order, but for copies and stragglers of a connection that broke.
 */
final class SimStore implements LockStore {
  final SimConnection requests;
  final SimConnection renewals;
  final SimConnection pushes;
  private final SimServer server;
  private final SimProcess simProcess;
  private final VirtualTimeScheduler virtualTimeScheduler;
  private final StoreProfile profile;
  private final Map<SessionId, Consumer<SessionNotification>> listeners = new HashMap<>();
  private SessionId latest;

  /**
   * Renewals that left since the last that was answered in good time; of the session closed last.
   */
  private int triesAtClose = Integer.MAX_VALUE;

  SimStore(
      VirtualTimeScheduler virtualTimeScheduler,
      SimServer server,
      SimProcess simProcess,
      SimTransport wire) {
    this.virtualTimeScheduler = virtualTimeScheduler;
    this.server = server;
    this.simProcess = simProcess;
    this.profile =
        new StoreProfile(
            "sim",
            server.settings.capabilities,
            Duration.ofNanos(server.settings.maxInFlight),
            Duration.ofMillis(1),
            Duration.ofMillis(1));
    this.requests = new SimConnection("requests", virtualTimeScheduler, server, simProcess, wire);
    this.renewals = new SimConnection("renewals", virtualTimeScheduler, server, simProcess, wire);
    this.pushes = new SimConnection("pushes", virtualTimeScheduler, server, simProcess, wire);
  }

  /** The session that this process opened last. */
  SessionId latestSession() {
    return latest;
  }

  /** The sessions that this process opened. */
  Set<SessionId> sessions() {
    return listeners.keySet();
  }

  @Override
  public StoreProfile profile() {
    return profile;
  }

  @Override
  public StoreSession open(SessionSpec spec, Consumer<SessionNotification> hints) {
    virtualTimeScheduler.trace(() -> simProcess + " opens session " + spec.id());
    latest = spec.id();
    listeners.put(spec.id(), hints);
    server.register(spec.id(), this);
    return new SimSession(spec);
  }

  /** Whether the session that was closed last had fewer than three renewals in vain behind it. */
  boolean gaveUpEarly() {
    return triesAtClose < 3;
  }

  void push(SessionId session, SessionNotification sessionNotification) {
    if (profile.can(Capability.PUSH) && simProcess.alive) {
      pushes.push(() -> deliver(session, sessionNotification));
    }
  }

  private void deliver(SessionId session, SessionNotification sessionNotification) {
    Consumer<SessionNotification> listener = listeners.get(session);
    if (listener != null) {
      virtualTimeScheduler.trace(() -> simProcess + " is pushed " + sessionNotification);
      simProcess.heard(sessionNotification);
      listener.accept(sessionNotification);
    }
  }

  @Override
  public CompletionStage<SessionVerdict> judge(SessionId session) {
    return ask(() -> server.judge(session));
  }

  @Override
  public CompletionStage<LockViewPage> inspect(LockQuery query) {
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

  @Override
  public void close() {}

  private final class SimSession implements StoreSession {
    private final SessionSpec spec;
    private int tries = Integer.MAX_VALUE;

    SimSession(SessionSpec spec) {
      this.spec = spec;
    }

    @Override
    public SessionId id() {
      return spec.id();
    }

    @Override
    public void submit(Request request, Consumer<Reply> sink) {
      Reply refusal = profile.refusal(request).orElse(null);
      if (refusal != null) {
        sink.accept(refusal);
        return;
      }
      requests.send(
          () -> server.apply(request),
          reply -> {
            simProcess.heard(request.name(), reply);
            sink.accept(reply);
          },
          failure -> {
            virtualTimeScheduler.trace(
                () -> simProcess + " hears nothing about " + SimServer.text(request));
            sink.accept(new Reply.Failed(request.attempt(), failure.mayHaveRun(), failure.cause()));
          });
    }

    @Override
    public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen) {
      return renew(previous, next, seen, spec.ttl());
    }

    @Override
    public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen, Duration ttl) {
      CompletableFuture<Renewal> future = new CompletableFuture<>();
      long sentAt = virtualTimeScheduler.now();
      tries = tries == Integer.MAX_VALUE ? tries : tries + 1;
      renewals.send(
          () -> server.renew(spec, previous, next, seen, ttl),
          renewal -> {
            simProcess.heard(renewal);
            if (!tellsWhatHasGoneFirst(renewal)) {
              boolean soon = virtualTimeScheduler.now() - sentAt < simProcess.ttl / 6;
              tries = soon ? 0 : Integer.MAX_VALUE;
            }
            future.complete(renewal);
          },
          failure -> future.complete(new Renewal.Unknown(failure.cause())));
      return future;
    }

    /** Such an answer gives no time yet, so the tries before it were in vain all the same. */
    private static boolean tellsWhatHasGoneFirst(Renewal renewal) {
      return renewal instanceof Renewal.Renewed renewed
          && renewed.more()
          && !renewed.notifications().isEmpty()
          && renewed.notifications().get(renewed.notifications().size() - 1).notification()
              instanceof SessionNotification.HoldEnded;
    }

    @Override
    public CompletionStage<Void> close() {
      virtualTimeScheduler.trace(() -> simProcess + " closes session " + spec.id());
      listeners.remove(spec.id());
      triesAtClose = tries;
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
