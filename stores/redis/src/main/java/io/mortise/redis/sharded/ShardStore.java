package io.mortise.redis.sharded;

import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.admin.Eviction;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.admin.SessionInfo;
import io.mortise.redis.sharded.ShardList.ShardMigration;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Fact;
import io.mortise.spi.LockStore;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.ServerIncarnation;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.SessionVerdict;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreSession;
import io.mortise.spi.time.DurationText;
import io.mortise.spi.time.Ticker;
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
 * One server of several. Until it is reached for the first time, every request fails at once. Later
 * its own connections reconnect by themselves.
 */
final class ShardStore implements LockStore {
  private static final Logger log = LoggerFactory.getLogger(ShardStore.class);
  private static final long PAUSE_MILLIS = 500;

  private final Shard shard;
  private final ShardList list;
  private final StoreProfile profile;
  private final Ticker ticker;
  private final ScheduledExecutorService reconnecting;

  /** Store and moving names, or the reason why there are none. */
  private volatile ShardState shardState;

  private volatile boolean closed;

  private record ShardState(
      @Nullable LockStore store, ShardMigration moving, @Nullable RuntimeException failure) {}

  ShardStore(
      Shard shard,
      ShardList list,
      StoreProfile profile,
      Ticker ticker,
      ScheduledExecutorService reconnecting) {
    this.shard = shard;
    this.list = list;
    this.profile =
        new StoreProfile(
            shard.display(),
            profile.capabilities(),
            profile.maxInFlight(),
            profile.minTtl(),
            profile.expiryLag());
    this.ticker = ticker;
    this.reconnecting = reconnecting;
    this.shardState =
        new ShardState(
            null,
            ShardMigration.NOTHING,
            new StoreUnavailableException(
                "The server was not reached yet (store=" + shard.display() + ")."));
  }

  /** Tries to connect once. Blocks. */
  void connect() {
    Shard.ConnectedShard connectedShard = null;
    try {
      connectedShard = shard.connector().connect();
      ShardMigration moving = list.check(connectedShard.control(), shard.display(), ticker);
      shardState = new ShardState(connectedShard.store(), moving, null);
      if (closed) {
        connectedShard.store().close();
      }
    } catch (RuntimeException | Error e) {
      if (connectedShard != null) {
        connectedShard.store().close();
      }
      // An Error may be a failure to start a thread for a connection; it is retried as well.
      RuntimeException failure =
          e instanceof RuntimeException runtime
              ? runtime
              : new StoreUnavailableException(
                  "The server cannot be reached (store=" + shard.display() + "): " + e + ".", e);
      shardState = new ShardState(null, ShardMigration.NOTHING, failure);
      throw failure;
    }
  }

  /** Retries until connected. */
  void keepConnecting() {
    if (shardState.store() != null || closed) {
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

  /** The incarnation of the server when it was reached; null before that. */
  @Override
  public @Nullable ServerIncarnation incarnation() {
    LockStore store = shardState.store();
    return store == null ? null : store.incarnation();
  }

  @Override
  public StoreSession open(SessionSpec spec, Consumer<SessionNotification> hints) {
    return new ShardSession(spec, hints);
  }

  private <T> CompletionStage<T> ask(Function<LockStore, CompletionStage<T>> question) {
    ShardState now = shardState;
    LockStore store = now.store();
    return store == null
        ? CompletableFuture.failedFuture(unavailable(now.failure()))
        : question.apply(store);
  }

  @Override
  public CompletionStage<SessionVerdict> judge(SessionId session) {
    return ask(store -> store.judge(session));
  }

  @Override
  public CompletionStage<Page<LockInfo>> inspect(LockQuery query) {
    return ask(store -> store.inspect(query));
  }

  @Override
  public CompletionStage<Page<SessionInfo>> sessions(@Nullable String cursor, int limit) {
    return ask(store -> store.sessions(cursor, limit));
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
  public CompletionStage<Fact> readFact(LockName name) {
    return ask(store -> store.readFact(name));
  }

  @Override
  public CompletionStage<Long> replaceFact(
      LockName name, long version, String content, Duration keep) {
    return ask(store -> store.replaceFact(name, version, content, keep));
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
  public void helpWhileWaiting(BooleanSupplier done, Duration longest) {
    LockStore store = shardState.store();
    if (store != null) {
      store.helpWhileWaiting(done, longest);
    }
  }

  @Override
  public void close() {
    closed = true;
    LockStore store = shardState.store();
    if (store != null) {
      store.close();
    }
  }

  /** A session on that server, created as soon as there is a store. */
  private final class ShardSession implements StoreSession {
    private final SessionSpec spec;
    private final Consumer<SessionNotification> hints;
    private final ReentrantLock guard = new ReentrantLock();
    private volatile @Nullable StoreSession opened;
    private @Nullable Runnable renewNow;
    private @Nullable Consumer<String> lost;

    ShardSession(SessionSpec spec, Consumer<SessionNotification> hints) {
      this.spec = spec;
      this.hints = hints;
    }

    private @Nullable StoreSession session() {
      StoreSession present = opened;
      LockStore store = shardState.store();
      if (present != null || store == null) {
        return present;
      }
      guard.lock();
      try {
        StoreSession session = opened;
        if (session == null) {
          session = store.open(spec, hints);
          if (renewNow != null) {
            session.onSuspectedRestart(renewNow);
          }
          if (lost != null) {
            session.onConnectionLost(lost);
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
      return new Reply.Failed(request.attempt(), false, unavailable(shardState.failure()));
    }

    private @Nullable Reply onTheMove(Request request) {
      Duration left =
          request instanceof Request.Acquire
              ? shardState.moving().left(request.name(), shard.id(), ticker)
              : Duration.ZERO;
      return left.isZero()
          ? null
          : new Reply.Failed(
              request.attempt(),
              false,
              new StoreUnavailableException(
                  "Lock '%s' is on its way to this server (store=%s): it opens in %s."
                      .formatted(request.name(), shard.display(), DurationText.format(left))));
    }

    @Override
    public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen) {
      return renew(previous, next, seen, spec.ttl());
    }

    @Override
    public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen, Duration ttl) {
      StoreSession session = session();
      return session == null
          ? CompletableFuture.completedFuture(
              new Renewal.Unknown(unavailable(shardState.failure())))
          : session.renew(previous, next, seen, ttl);
    }

    @Override
    public void onSuspectedRestart(Runnable renewNow) {
      guard.lock();
      try {
        this.renewNow = renewNow;
        StoreSession session = opened;
        if (session != null) {
          session.onSuspectedRestart(renewNow);
        }
      } finally {
        guard.unlock();
      }
    }

    @Override
    public void onConnectionLost(Consumer<String> lost) {
      guard.lock();
      try {
        this.lost = lost;
        StoreSession session = opened;
        if (session != null) {
          session.onConnectionLost(lost);
        }
      } finally {
        guard.unlock();
      }
    }

    @Override
    public boolean isJudgedByBeat() {
      StoreSession session = opened;
      return session != null && session.isJudgedByBeat();
    }

    @Override
    public boolean receivesPushes() {
      StoreSession session = opened;
      return session == null || session.receivesPushes();
    }

    @Override
    public CompletionStage<Void> close() {
      StoreSession session = opened;
      return session == null ? CompletableFuture.completedFuture(null) : session.close();
    }
  }
}
