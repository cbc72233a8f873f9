package io.mortise.redis.sharded;

import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.admin.Eviction;
import io.mortise.redis.sharded.ShardList.Moving;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockPage;
import io.mortise.spi.LockQuery;
import io.mortise.spi.LockStore;
import io.mortise.spi.Memory;
import io.mortise.spi.News;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreSession;
import io.mortise.spi.Verdict;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One server of several: the store there, once it has been reached for the first time; until then
 * everything that is asked of it fails at once. Later its own connections come back by themselves.
 */
final class Part implements LockStore {
  private static final Logger log = LoggerFactory.getLogger(Part.class);
  private static final long PAUSE_MILLIS = 500;

  private final Shard shard;
  private final ShardList list;
  private final StoreProfile profile;
  private final ScheduledExecutorService reconnecting;

  /** Store and moving names, or why there are none. */
  private volatile State state;

  private volatile boolean closed;

  private record State(
      @Nullable LockStore store, Moving moving, @Nullable RuntimeException failure) {}

  Part(Shard shard, ShardList list, StoreProfile profile, ScheduledExecutorService reconnecting) {
    this.shard = shard;
    this.list = list;
    this.profile =
        new StoreProfile(
            shard.display(),
            profile.capabilities(),
            profile.maxInFlight(),
            profile.minTtl(),
            profile.expiryLag());
    this.reconnecting = reconnecting;
    this.state =
        new State(
            null,
            Moving.NOTHING,
            new StoreUnavailableException(
                "The server was not reached yet (store=" + shard.display() + ")."));
  }

  /** Tries once. Blocks. */
  void connect() {
    Shard.Server server = null;
    try {
      server = shard.connector().connect();
      Moving moving = list.check(server.control(), shard.display());
      state = new State(server.store(), moving, null);
      if (closed) {
        server.store().close();
      }
    } catch (RuntimeException e) {
      if (server != null) {
        server.store().close();
      }
      state = new State(null, Moving.NOTHING, e);
      throw e;
    }
  }

  /** Tries again and again, if it has to. */
  void keepConnecting() {
    if (state.store() != null || closed) {
      return;
    }
    try {
      var unused =
          reconnecting.schedule(
              () -> {
                try {
                  connect();
                  log.info("Redis {} is there.", shard.display());
                } catch (RuntimeException e) {
                  log.debug("Redis {} cannot be used yet.", shard.display(), e);
                  keepConnecting();
                }
              },
              PAUSE_MILLIS,
              TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      // Closed.
    }
  }

  private StoreUnavailableException unavailable(@Nullable RuntimeException failure) {
    String message =
        "Redis %s, which has this name, cannot be used; no other server has it in its place: %s"
            .formatted(shard.display(), failure == null ? "closed." : failure.getMessage());
    return failure == null
        ? new StoreUnavailableException(message)
        : new StoreUnavailableException(message, failure);
  }

  @Override
  public StoreProfile profile() {
    return profile;
  }

  /** What it remembered with when it was reached; null before that. */
  @Override
  public @Nullable Memory memory() {
    LockStore store = state.store();
    return store == null ? null : store.memory();
  }

  @Override
  public StoreSession open(SessionSpec spec, Consumer<News> hints) {
    return new Session(spec, hints);
  }

  private <T> CompletionStage<T> ask(Function<LockStore, CompletionStage<T>> question) {
    State now = state;
    LockStore store = now.store();
    return store == null
        ? CompletableFuture.failedFuture(unavailable(now.failure()))
        : question.apply(store);
  }

  @Override
  public CompletionStage<Verdict> judge(SessionId session) {
    return ask(store -> store.judge(session));
  }

  @Override
  public CompletionStage<LockPage> inspect(LockQuery query) {
    return ask(store -> store.inspect(query));
  }

  @Override
  public CompletionStage<Reply.Ended> evict(LockName name, AttemptId attempt, Eviction how) {
    return ask(store -> store.evict(name, attempt, how));
  }

  @Override
  public CompletionStage<Boolean> reopen(LockName name) {
    return ask(store -> store.reopen(name));
  }

  @Override
  public CompletionStage<Integer> sweep(int budget) {
    return ask(store -> store.sweep(budget));
  }

  @Override
  public CompletionStage<Boolean> claimSweep() {
    return ask(LockStore::claimSweep);
  }

  @Override
  public CompletionStage<StoreReport> examine() {
    return ask(LockStore::examine);
  }

  @Override
  public void linger(BooleanSupplier done, Duration longest) {
    LockStore store = state.store();
    if (store != null) {
      store.linger(done, longest);
    }
  }

  @Override
  public void close() {
    closed = true;
    LockStore store = state.store();
    if (store != null) {
      store.close();
    }
  }

  /** A session there, as soon as there is a store. */
  private final class Session implements StoreSession {
    private final SessionSpec spec;
    private final Consumer<News> hints;
    private final ReentrantLock guard = new ReentrantLock();
    private volatile @Nullable StoreSession opened;
    private @Nullable Runnable doubt;

    Session(SessionSpec spec, Consumer<News> hints) {
      this.spec = spec;
      this.hints = hints;
    }

    private @Nullable StoreSession session() {
      StoreSession present = opened;
      LockStore store = state.store();
      if (present != null || store == null) {
        return present;
      }
      guard.lock();
      try {
        StoreSession session = opened;
        if (session == null) {
          session = store.open(spec, hints);
          if (doubt != null) {
            session.whenInDoubt(doubt);
          }
          opened = session;
        }
        return session;
      } finally {
        guard.unlock();
      }
    }

    @Override
    public SessionId id() {
      return spec.id();
    }

    @Override
    public void submit(Request request, Consumer<Reply> sink) {
      submit(request, sink, false);
    }

    @Override
    public void submitLater(Request request, Consumer<Reply> sink) {
      submit(request, sink, true);
    }

    private void submit(Request request, Consumer<Reply> sink, boolean later) {
      StoreSession session = session();
      Reply failure = session == null ? notReached(request) : onTheMove(request);
      if (failure != null) {
        sink.accept(failure);
      } else if (session != null && later) {
        session.submitLater(request, sink);
      } else if (session != null) {
        session.submit(request, sink);
      }
    }

    private Reply notReached(Request request) {
      return new Reply.Failed(request.attempt(), false, unavailable(state.failure()));
    }

    private @Nullable Reply onTheMove(Request request) {
      Duration left =
          request instanceof Request.Acquire
              ? state.moving().left(request.name(), shard.id())
              : Duration.ZERO;
      return left.isZero()
          ? null
          : new Reply.Failed(
              request.attempt(),
              false,
              new StoreUnavailableException(
                  "Lock '%s' is on its way to this server (store=%s): it opens in %d ms."
                      .formatted(request.name(), shard.display(), left.toMillis())));
    }

    @Override
    public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen) {
      return renew(previous, next, seen, spec.ttl());
    }

    @Override
    public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen, Duration ttl) {
      StoreSession session = session();
      return session == null
          ? CompletableFuture.completedFuture(new Renewal.Unknown(unavailable(state.failure())))
          : session.renew(previous, next, seen, ttl);
    }

    @Override
    public void whenInDoubt(Runnable renewNow) {
      guard.lock();
      try {
        doubt = renewNow;
        StoreSession session = opened;
        if (session != null) {
          session.whenInDoubt(renewNow);
        }
      } finally {
        guard.unlock();
      }
    }

    @Override
    public CompletionStage<Void> close() {
      StoreSession session = opened;
      return session == null ? CompletableFuture.completedFuture(null) : session.close();
    }
  }
}
