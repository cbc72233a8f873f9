package io.mortise.jdbc;

import io.mortise.LockName;
import io.mortise.jdbc.Database.Trouble;
import io.mortise.spi.AttemptId;
import io.mortise.spi.News;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A session of this process, and which of its attempts wait or hold as far as it knows. */
final class JdbcSession implements StoreSession {
  private static final Logger LOG = LoggerFactory.getLogger(JdbcSession.class);

  /** How far behind a visible piece of news an older one may still come up. */
  static final int LOOK_BACK = 64;

  /** How many names are remembered at most. */
  private static final int REMEMBERED = 1000;

  private final JdbcLockStore store;
  private final SessionSpec spec;
  private final Consumer<News> hints;

  /** Attempts in the queue of a lock. */
  private final Map<AttemptId, Place> waiting = new ConcurrentHashMap<>();

  /** Where an attempt waits, and how many were ahead of it. */
  private record Place(LockName name, int ahead) {}

  /** Where nothing can ring, holders poll too, but only while they hold. */
  private final @Nullable Set<AttemptId> holding;

  /** Those of these that are known to be in the way of others. */
  private final Set<AttemptId> wanted = ConcurrentHashMap.newKeySet();

  /** Those of these that came by the queue: news of them was left, which their end takes away. */
  private final Set<AttemptId> inherited = ConcurrentHashMap.newKeySet();

  /** Those that this process lately had to wait for. */
  private final Set<LockName> contended = ConcurrentHashMap.newKeySet();

  /** Those that others got from this process when it released them the last time. */
  private final Set<LockName> handedOver = ConcurrentHashMap.newKeySet();

  private final Life life;
  private volatile boolean watched;
  private volatile boolean closed;

  /** Belongs to whoever has the baton of the renewals. */
  private boolean wasConnected;

  private volatile boolean mayBePassedOver;

  private long lastPushed;
  private Set<Long> pushed = new HashSet<>();

  JdbcSession(JdbcLockStore store, SessionSpec spec, Consumer<News> hints, boolean countsHolds) {
    this.store = store;
    this.spec = spec;
    this.hints = hints;
    this.life = new Life();
    this.holding = countsHolds ? ConcurrentHashMap.newKeySet() : null;
  }

  @Override
  public SessionId id() {
    return spec.id();
  }

  @Override
  public void submit(Request request, Consumer<Reply> sink) {
    if (!isRefused(request, sink)) {
      store.submit(new RequestWork(request, sink));
    }
  }

  @Override
  public void submitLater(Request request, Consumer<Reply> sink) {
    if (!isRefused(request, sink)) {
      store.submitLater(new RequestWork(request, sink));
    }
  }

  private boolean isRefused(Request request, Consumer<Reply> sink) {
    boolean refused = closed;
    if (refused) {
      sink.accept(
          new Reply.Refused(
              request.attempt(),
              Reply.Why.SESSION_GONE,
              "The session of this attempt has been closed."));
    }
    return refused;
  }

  @Override
  public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen) {
    return renew(previous, next, seen, spec.ttl());
  }

  @Override
  public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen, Duration ttl) {
    if (closed) {
      return CompletableFuture.completedFuture(new Renewal.Lost("the session has been closed"));
    }
    if (previous != 0 && store.isReplaced()) {
      // Others may hold already what this session believes to hold.
      return CompletableFuture.completedFuture(
          new Renewal.Lost("the file of the store, or its log, was moved, replaced or removed"));
    }
    List<Long> known = List.copyOf(seen);
    boolean strictly = store.isStrict();
    Duration lives = strictly ? spec.ttl() : ttl;
    life.renews(lives);
    return store
        .renewal(
            link -> {
              takeConnectionLock(link);
              return link.sessions.keep(spec.id(), previous, next, known, lives, strictly);
            },
            link -> link.sessions.renew(spec, previous, next, known, lives, link.now(), strictly))
        .exceptionally(Renewal.Unknown::new)
        .thenApply(
            renewal -> {
              life.renewed(renewal, lives);
              if (renewal instanceof Renewal.Renewed) {
                serveIfPassedOver();
              }
              return renewal;
            });
  }

  /** Has the connection of the renewals show that this process has one. */
  void takeConnectionLock(Link link) throws SQLException {
    if (!closed && link.rows.takeConnectionLock(spec.id().value())) {
      mayBePassedOver = mayBePassedOver || wasConnected;
      wasConnected = true;
    }
  }

  /**
   * After a connection that broke, locks may be free although this session waits for them: it was
   * passed over while it had none.
   */
  void serveIfPassedOver() {
    if (mayBePassedOver) {
      mayBePassedOver = false;
      waiting.values().stream().map(Place::name).distinct().forEach(store::serve);
    }
  }

  @Override
  public CompletionStage<Void> close() {
    closed = true;
    life.ends();
    store.remove(this);
    return store
        .<Boolean>renewal(
            link -> {
              link.sessions.close(spec.id());
              return true;
            })
        .handle((done, trouble) -> null);
  }

  boolean isWaiting() {
    return !waiting.isEmpty();
  }

  /** How many are ahead of the attempt that is nearest to its turn; 0 if none waits. */
  int ahead() {
    return waiting.values().stream().mapToInt(Place::ahead).min().orElse(0);
  }

  boolean isHolding() {
    return holding != null && !holding.isEmpty();
  }

  /**
   * After which id to look for news. A little behind the last that was handed on: ids may become
   * visible out of order.
   */
  long pushedTo() {
    return lastPushed - LOOK_BACK;
  }

  /** Hands on news that was not handed on before; called by one thread. Returns how much came. */
  int push(List<Renewal.Item> items) {
    Set<Long> present = new HashSet<>();
    for (Renewal.Item item : items) {
      present.add(item.id());
      lastPushed = Math.max(lastPushed, item.id());
      if (!pushed.contains(item.id())) {
        hint(item.news());
      }
    }
    pushed = present;
    return items.size();
  }

  void hint(News news) {
    if (closed) {
      return;
    }
    if (news instanceof News.Granted granted) {
      if (!granted.wanted()) {
        contended.remove(news.name());
      }
      holds(news.attempt(), granted.wanted());
    } else if (news instanceof News.Wanted) {
      isWanted(news.attempt());
    } else if (news instanceof News.Gone) {
      neither(news.attempt());
    }
    try {
      hints.accept(news);
    } catch (RuntimeException e) {
      LOG.warn("A receiver of hints threw an exception", e);
    }
  }

  private void note(Request request, Reply reply) {
    if (request instanceof Request.Acquire && !(reply instanceof Reply.Failed)) {
      store.names().add(request.name());
    }
    if (reply instanceof Reply.Granted granted) {
      contended.remove(request.name());
      holds(reply.attempt(), granted.wanted());
    } else if (reply instanceof Reply.Queued queued) {
      remember(contended, request.name());
      Place place = new Place(request.name(), queued.ahead());
      boolean isNew = waiting.put(reply.attempt(), place) == null;
      watch();
      if (isNew) {
        store.hurry();
      }
    } else if (!(reply instanceof Reply.Failed)) {
      neither(reply.attempt());
    }
  }

  /** Not for a file: there a statement in vain costs nothing. */
  private void remember(Set<LockName> names, LockName name) {
    if (holding != null) {
      if (names.size() >= REMEMBERED) {
        names.clear();
      }
      names.add(name);
    }
  }

  private void holds(AttemptId attempt, boolean isWanted) {
    boolean waited = waiting.remove(attempt) != null;
    if (holding != null) {
      holding.add(attempt);
      if (waited) {
        inherited.add(attempt);
      }
    }
    if (isWanted) {
      isWanted(attempt);
    }
    watch();
  }

  private void isWanted(AttemptId attempt) {
    if (holding != null) {
      wanted.add(attempt);
      // Looked at last: it may have ended meanwhile, or long ago.
      if (!holding.contains(attempt)) {
        wanted.remove(attempt);
      }
    }
  }

  private void neither(AttemptId attempt) {
    waiting.remove(attempt);
    if (holding != null) {
      holding.remove(attempt);
      wanted.remove(attempt);
      inherited.remove(attempt);
    }
  }

  private void watch() {
    if (!watched) {
      watched = true;
      store.watch(this);
    }
  }

  private final class RequestWork extends Work {
    private final Request request;
    private final Consumer<Reply> sink;
    private @Nullable Reply reply;
    private boolean leftOut;
    private boolean wasGuessed;

    RequestWork(Request request, Consumer<Reply> sink) {
      this.request = request;
      this.sink = sink;
    }

    @Override
    Request request() {
      return request;
    }

    @Override
    void take(Reply taken) {
      reply = taken;
    }

    /** One that is known to be in others' way, or they in its, is not as simple. */
    @Override
    boolean hasFastPath() {
      return FastSteps.hasFastPath(request)
          && !(request instanceof Request.Abandon
              ? wanted.contains(request.attempt())
                  || inherited.contains(request.attempt())
                  || handedOver.contains(request.name())
              : isQueued() || contended.contains(request.name()));
    }

    @Override
    boolean isNew() {
      return request instanceof Request.Acquire && !store.names().has(request.name());
    }

    @Override
    boolean fast(Link link) throws SQLException {
      reply = null;
      if (hasFastPath() && !leftOut) {
        if (request instanceof Request.Acquire acquire && isNew()) {
          reply = link.fast.first(acquire);
        }
        if (reply == null) {
          reply = alone(link);
        }
      }
      if (reply == null && !wasGuessed && isGuessed() && link.fast.hasContended()) {
        take(link.fast.contended(List.of(request)).get(0));
      }
      wasGuessed = false;
      return reply != null;
    }

    private @Nullable Reply alone(Link link) throws SQLException {
      if (!(request instanceof Request.Acquire acquire)
          || !link.fast.hasSeen()
          || store.isStrict()) {
        return link.fast.alone(request, link::now);
      }
      long sent = System.nanoTime();
      long aliveUntil = life.until(link, sent);
      if (aliveUntil != 0) {
        return link.fast.seen(acquire, aliveUntil);
      }
      Reply found = link.fast.alone(acquire, link::now);
      if (found != null) {
        life.seen(link, sent);
      }
      return found;
    }

    /**
     * Somebody else is there: the next guess is that he is alive, and that nothing special goes on.
     */
    private boolean isGuessed() {
      return FastSteps.hasFastPath(request)
          && !isQueued()
          && !(request instanceof Request.Acquire acquire && !acquire.queue());
    }

    @Override
    boolean isContended() {
      return isGuessed() && (leftOut || !hasFastPath());
    }

    @Override
    void take(ContendedStep step) {
      wasGuessed = true;
      reply = step.reply();
      if (request instanceof Request.Acquire) {
        return;
      }
      if (step.told().isEmpty()) {
        handedOver.remove(request.name());
      } else {
        remember(handedOver, request.name());
      }
    }

    @Override
    void leftOut() {
      leftOut = true;
    }

    private boolean isQueued() {
      return waiting.containsKey(request.attempt());
    }

    @Override
    void run(Link link) throws SQLException {
      reply = link.locks.apply(request, link.now());
    }

    @Override
    void done() {
      answer(Objects.requireNonNull(reply));
    }

    @Override
    void failed(Trouble trouble, boolean mayHaveRun, RuntimeException cause) {
      answer(
          trouble == Trouble.FULL && !mayHaveRun && request instanceof Request.Acquire
              ? new Reply.Refused(
                  request.attempt(), Reply.Why.STORE_FULL, String.valueOf(cause.getMessage()))
              : new Reply.Failed(request.attempt(), mayHaveRun, cause));
    }

    private void answer(Reply answer) {
      note(request, answer);
      sink.accept(answer);
    }
  }
}
