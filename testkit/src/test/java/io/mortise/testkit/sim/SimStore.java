package io.mortise.testkit.sim;

import io.mortise.LockName;
import io.mortise.admin.Eviction;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
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
  final Lane requests;
  final Lane renewals;
  final Lane pushes;
  private final Server server;
  private final Life life;
  private final World world;
  private final StoreProfile profile;
  private final Map<SessionId, Consumer<News>> listeners = new HashMap<>();
  private SessionId latest;

  /**
   * Renewals that left since the last that was answered in good time; of the session closed last.
   */
  private int triesAtClose = Integer.MAX_VALUE;

  SimStore(World world, Server server, Life life, Wire wire) {
    this.world = world;
    this.server = server;
    this.life = life;
    this.profile =
        new StoreProfile(
            "sim",
            server.settings.capabilities,
            Duration.ofNanos(server.settings.maxInFlight),
            Duration.ofMillis(1),
            Duration.ofMillis(1));
    this.requests = new Lane("requests", world, server, life, wire);
    this.renewals = new Lane("renewals", world, server, life, wire);
    this.pushes = new Lane("pushes", world, server, life, wire);
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
  public StoreSession open(SessionSpec spec, Consumer<News> hints) {
    world.trace(() -> life + " opens session " + spec.id());
    latest = spec.id();
    listeners.put(spec.id(), hints);
    server.register(spec.id(), this);
    return new Session(spec);
  }

  /** Whether the session that was closed last had fewer than three renewals in vain behind it. */
  boolean gaveUpEarly() {
    return triesAtClose < 3;
  }

  void push(SessionId session, News news) {
    if (profile.can(Capability.PUSH) && life.alive) {
      pushes.push(() -> deliver(session, news));
    }
  }

  private void deliver(SessionId session, News news) {
    Consumer<News> listener = listeners.get(session);
    if (listener != null) {
      world.trace(() -> life + " is pushed " + news);
      life.heard(news);
      listener.accept(news);
    }
  }

  @Override
  public CompletionStage<Verdict> judge(SessionId session) {
    return ask(() -> server.judge(session));
  }

  @Override
  public CompletionStage<LockPage> inspect(LockQuery query) {
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

  private final class Session implements StoreSession {
    private final SessionSpec spec;
    private int tries = Integer.MAX_VALUE;

    Session(SessionSpec spec) {
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
            life.heard(request.name(), reply);
            sink.accept(reply);
          },
          failure -> {
            world.trace(() -> life + " hears nothing about " + Server.text(request));
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
      long sentAt = world.now();
      tries = tries == Integer.MAX_VALUE ? tries : tries + 1;
      renewals.send(
          () -> server.renew(spec, previous, next, seen, ttl),
          renewal -> {
            life.heard(renewal);
            if (!tellsWhatHasGoneFirst(renewal)) {
              boolean soon = world.now() - sentAt < life.ttl / 6;
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
          && !renewed.news().isEmpty()
          && renewed.news().get(renewed.news().size() - 1).news() instanceof News.Gone;
    }

    @Override
    public CompletionStage<Void> close() {
      world.trace(() -> life + " closes session " + spec.id());
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
