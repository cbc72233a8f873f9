package io.mortise.jdbc;

import io.mortise.LockName;
import io.mortise.jdbc.batch.StoreTask;
import io.mortise.jdbc.notify.NotifiedSession;
import io.mortise.jdbc.table.ContendedRequest;
import io.mortise.jdbc.table.Database.ErrorKind;
import io.mortise.jdbc.table.LockRepository;
import io.mortise.jdbc.table.StoreConnection;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import io.mortise.support.internal.session.Refusals;
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
final class JdbcSession implements StoreSession, NotifiedSession {
  private static final Logger log = LoggerFactory.getLogger(JdbcSession.class);

  /** How many names are remembered at most. */
  private static final int REMEMBERED = 1000;

  private final JdbcLockStore store;
  private final SessionSpec spec;
  private final Consumer<SessionNotification> hints;

  /** Attempts in the queue of a lock. */
  private final Map<AttemptId, QueuePosition> waiting = new ConcurrentHashMap<>();

  /** Where an attempt waits, and how many were ahead of it. */
  private record QueuePosition(LockName name, int ahead) {}

  /** Without file notifications, holders poll too, but only while they hold. */
  private final @Nullable HeldAttempts holding;

  /** Those of these that are known to be in the way of others. */
  private final Set<AttemptId> wanted = ConcurrentHashMap.newKeySet();

  /**
   * Those of these that came by the queue: notifications of them were left, which their end
   * removes.
   */
  private final Set<AttemptId> inherited = ConcurrentHashMap.newKeySet();

  /** Those that this process lately had to wait for. */
  private final Set<LockName> contended = ConcurrentHashMap.newKeySet();

  /** Those that others got from this process when it released them the last time. */
  private final Set<LockName> handedOff = ConcurrentHashMap.newKeySet();

  private volatile boolean watched;
  private volatile boolean closed;

  /** Used by the leader of the renewals only. */
  private boolean wasConnected;

  private volatile boolean mayBePassedOver;
  private volatile Consumer<String> lost = cause -> {};

  private long lastPushed;
  private Set<Long> pushed = new HashSet<>();

  JdbcSession(
      JdbcLockStore store,
      SessionSpec spec,
      Consumer<SessionNotification> hints,
      boolean countsHolds) {
    this.store = store;
    this.spec = spec;
    this.hints = hints;
    this.holding = countsHolds ? new HeldAttempts() : null;
  }

  @Override
  public SessionId id() {
    return spec.id();
  }

  @Override
  public void submit(Request request, Consumer<Reply> sink) {
    if (!isRefused(request, sink)) {
      beforeQueueing(request);
      store.requests.submit(new RequestTask(request, sink));
    }
  }

  @Override
  public void submitLater(Request request, Consumer<Reply> sink) {
    if (!isRefused(request, sink)) {
      beforeQueueing(request);
      store.requests.submitLater(new RequestTask(request, sink));
    }
  }

  private boolean isRefused(Request request, Consumer<Reply> sink) {
    Reply refusal =
        closed
            ? Refusals.sessionClosed(request.attempt())
            : store.profile().refusal(request).orElse(null);
    if (refusal != null) {
      sink.accept(refusal);
    }
    return refusal != null;
  }

  /**
   * Makes the file of this process before others can see its waiter: without one it counts as
   * alive.
   */
  private void beforeQueueing(Request request) {
    if (request instanceof Request.Acquire acquire && acquire.queue() && store.watchesFiles()) {
      watch();
    }
  }

  @Override
  public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen) {
    return renew(previous, next, seen, spec.ttl());
  }

  @Override
  public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen, Duration ttl) {
    if (closed) {
      return CompletableFuture.completedFuture(Refusals.SESSION_CLOSED);
    }
    if (previous != 0 && store.isReplaced()) {
      // Others may hold already what this session believes to hold.
      return CompletableFuture.completedFuture(
          new Renewal.Lost("the file of the store, or its log, was moved, replaced or removed"));
    }
    List<Long> known = List.copyOf(seen);
    boolean strictly = store.isStrict();
    Duration lives = strictly ? spec.ttl() : ttl;
    return store
        .renewal(
            storeConnection -> {
              takeConnectionLock(storeConnection);
              return storeConnection.sessions.keep(
                  spec.id(), previous, next, known, lives, strictly);
            },
            storeConnection ->
                storeConnection.sessions.renew(
                    spec, previous, next, known, lives, storeConnection.now(), strictly))
        .exceptionally(Renewal.Unknown::new)
        .thenApply(
            renewal -> {
              if (renewal instanceof Renewal.Renewed) {
                serveIfPassedOver();
              }
              return renewal;
            });
  }

  @Override
  public void onConnectionLost(Consumer<String> listener) {
    lost = listener;
  }

  @Override
  public boolean receivesPushes() {
    return store.receivesPushes();
  }

  @Override
  public Duration callBackDelay() {
    return store.callBackDelay();
  }

  @Override
  public void connectionLost(String cause) {
    lost.accept(cause);
  }

  /** Has the connection of the renewals show that this process has one. */
  void takeConnectionLock(StoreConnection storeConnection) throws SQLException {
    if (!closed && storeConnection.repository.takeConnectionLock(spec.id().value())) {
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
      waiting.values().stream().map(QueuePosition::name).distinct().forEach(store::serve);
    }
  }

  @Override
  public CompletionStage<Void> close() {
    closed = true;
    store.remove(this);
    return store
        .<Boolean>renewal(
            storeConnection -> {
              storeConnection.sessions.close(spec.id());
              return true;
            })
        .handle((done, errorKind) -> null);
  }

  @Override
  public boolean isWaiting() {
    return !waiting.isEmpty();
  }

  @Override
  public int ahead() {
    return waiting.values().stream().mapToInt(QueuePosition::ahead).min().orElse(0);
  }

  @Override
  public boolean isHolding() {
    return holding != null && !holding.isEmpty();
  }

  @Override
  public long pushedTo() {
    return lastPushed - LOOK_BACK;
  }

  @Override
  public int push(List<Renewal.NumberedNotification> numberedNotifications) {
    Set<Long> present = new HashSet<>();
    for (Renewal.NumberedNotification numberedNotification : numberedNotifications) {
      present.add(numberedNotification.id());
      lastPushed = Math.max(lastPushed, numberedNotification.id());
      if (!pushed.contains(numberedNotification.id())) {
        hint(numberedNotification.notification());
      }
    }
    pushed = present;
    return numberedNotifications.size();
  }

  @Override
  public void hint(SessionNotification sessionNotification) {
    if (closed) {
      return;
    }
    if (sessionNotification instanceof SessionNotification.HoldGranted granted) {
      if (!granted.wanted()) {
        contended.remove(sessionNotification.name());
      }
      holds(sessionNotification.attempt(), granted.wanted());
    } else if (sessionNotification instanceof SessionNotification.Contended) {
      isWanted(sessionNotification.attempt());
    } else if (sessionNotification instanceof SessionNotification.HoldEnded) {
      neither(sessionNotification.attempt());
    }
    try {
      hints.accept(sessionNotification);
    } catch (RuntimeException e) {
      log.warn("A receiver of notifications threw an exception", e);
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
      QueuePosition place = new QueuePosition(request.name(), queued.ahead());
      boolean isNew = waiting.put(reply.attempt(), place) == null;
      watch();
      if (isNew) {
        store.onWaiterAdded();
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
      holding.add(attempt.number());
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
      if (!holding.contains(attempt.number())) {
        wanted.remove(attempt);
      }
    }
  }

  private void neither(AttemptId attempt) {
    waiting.remove(attempt);
    if (holding != null) {
      holding.remove(attempt.number());
      wanted.remove(attempt);
      inherited.remove(attempt);
    }
  }

  private void watch() {
    if (!watched) {
      watched = true;
      store.watch(this);
      if (closed) {
        store.remove(this);
      }
    }
  }

  private final class RequestTask extends StoreTask {
    private final Request request;
    private final Consumer<Reply> sink;
    private @Nullable Reply reply;
    private boolean omittedFromBatch;

    RequestTask(Request request, Consumer<Reply> sink) {
      this.request = request;
      this.sink = sink;
    }

    @Override
    public Request request() {
      return request;
    }

    @Override
    public void take(Reply taken) {
      reply = taken;
    }

    /** One that is known to be in others' way, or they in its, is not as simple. */
    @Override
    public boolean hasFastPath() {
      return LockRepository.hasFastPath(request)
          && !(request instanceof Request.Abandon
              ? wanted.contains(request.attempt())
                  || inherited.contains(request.attempt())
                  || handedOff.contains(request.name())
              : isQueued() || contended.contains(request.name()));
    }

    @Override
    public boolean isNew() {
      return request instanceof Request.Acquire && !store.names().has(request.name());
    }

    @Override
    public boolean fast(StoreConnection storeConnection) throws SQLException {
      reply = null;
      if (hasFastPath() && !omittedFromBatch) {
        reply =
            request instanceof Request.Acquire acquire && isNew()
                ? storeConnection.repository.applyFastToNew(acquire, storeConnection::now)
                : storeConnection.repository.applyFast(request, storeConnection::now);
      }
      if (reply == null && isGuessed()) {
        take(storeConnection.contended(request));
      }
      return reply != null;
    }

    /**
     * Another holder is there: the next guess is that it is alive, and that nothing special goes
     * on.
     */
    private boolean isGuessed() {
      return LockRepository.hasFastPath(request)
          && !isQueued()
          && !(request instanceof Request.Acquire acquire && !acquire.queue());
    }

    private void take(ContendedRequest contendedRequest) {
      reply = contendedRequest.reply();
      if (request instanceof Request.Acquire) {
        return;
      }
      if (contendedRequest.pendingNotifications().isEmpty()) {
        handedOff.remove(request.name());
      } else {
        remember(handedOff, request.name());
      }
    }

    @Override
    public void omittedFromBatch() {
      omittedFromBatch = true;
    }

    private boolean isQueued() {
      return waiting.containsKey(request.attempt());
    }

    @Override
    public void run(StoreConnection storeConnection) throws SQLException {
      reply = storeConnection.locks.apply(request, storeConnection.now());
    }

    @Override
    public void done() {
      answer(Objects.requireNonNull(reply));
    }

    @Override
    public void failed(ErrorKind errorKind, boolean mayHaveRun, RuntimeException cause) {
      answer(
          errorKind == ErrorKind.FULL && !mayHaveRun && request instanceof Request.Acquire
              ? new Reply.Refused(
                  request.attempt(),
                  Reply.RefusalReason.STORE_FULL,
                  String.valueOf(cause.getMessage()))
              : new Reply.Failed(request.attempt(), mayHaveRun, cause));
    }

    private void answer(Reply answer) {
      note(request, answer);
      sink.accept(answer);
    }
  }
}
