package io.mortise.zookeeper.curator;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockName;
import io.mortise.spi.Mode;
import io.mortise.spi.News;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.How;
import io.mortise.spi.Reply.Was;
import io.mortise.spi.Reply.Why;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * A session of the engine, which is a ZooKeeper session of its own: all nodes hang on it, and the
 * server deletes them when it ends.
 *
 * <p><b>Renewal.</b> The client library keeps the session alive by itself; what the engine asks is
 * since when that is certain. A follower's word is not enough, for it may be cut off from the
 * leader, who ends sessions (design note A6). So a renewal is a request, which the server counts as
 * a sign of life, and one tick later, when the server must have passed that on, a {@code sync},
 * which only the leader answers. What was sent before the first then counts.
 *
 * <p><b>Not renewed</b> for a whole TTL, the session is closed from this side: an engine that is
 * stuck must not hold locks because the library's own thread goes on.
 *
 * <p><b>Guard.</b> One lock guards this and all its {@link Stand}s. Requests are sent under it
 * (they only join a queue), sinks and hints are called after it was let go.
 */
final class CuratorSession implements StoreSession {
  private static final int REMEMBERED = 1_000;

  private final CuratorLockStore store;
  private final SessionSpec spec;
  private final Consumer<News> hints;
  private final ReentrantLock guard = new ReentrantLock();
  private final Map<AttemptId, Stand> stands = new HashMap<>();

  /**
   * Attempts with requests that wait for an earlier one; others of the same lock wait for these.
   */
  private final Map<LockName, Stand> inLine = new HashMap<>();

  private final NewsBox news = new NewsBox();
  private final CompletableFuture<Code> connected = new CompletableFuture<>();
  private List<Runnable> effects = new ArrayList<>();
  private @Nullable Wire wire;
  private @Nullable CompletableFuture<Void> closing;
  private boolean over;
  private long beat;
  private long lastAsked;

  private final Map<AttemptId, Reply.Ended> ended =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<AttemptId, Reply.Ended> eldest) {
          return size() > REMEMBERED;
        }
      };

  CuratorSession(CuratorLockStore store, SessionSpec spec, Consumer<News> hints) {
    this.store = store;
    this.spec = spec;
    this.hints = hints;
  }

  @Override
  public SessionId id() {
    return spec.id();
  }

  Duration ttl() {
    return spec.ttl();
  }

  String storeName() {
    return store.profile().display();
  }

  // ---- For stands ----

  /** Changes state; what is to be told is told afterwards. */
  void step(Runnable change) {
    List<Runnable> due = List.of();
    guard.lock();
    try {
      change.run();
      if (guard.getHoldCount() == 1 && !effects.isEmpty()) {
        due = effects;
        effects = new ArrayList<>();
      }
    } finally {
      guard.unlock();
    }
    due.forEach(Runnable::run);
  }

  void after(Runnable effect) {
    effects.add(effect);
  }

  Wire wire() {
    if (wire == null) {
      throw new IllegalStateException("The session was never opened.");
    }
    return wire;
  }

  /** Whether nothing of this session is believed any more. */
  boolean isOver() {
    return over;
  }

  boolean owns(Stat node) {
    return node.getEphemeralOwner() == wire().client().getSessionId();
  }

  byte[] note(Request.@Nullable Acquire request) {
    return new NodeNote(
            spec.client(),
            spec.ttl(),
            request == null ? Mode.SHARERS : request.mode().capacity(),
            request == null ? "" : request.terms().label())
        .encoded();
  }

  void tell(News item) {
    news.add(item);
    after(() -> hints.accept(item));
  }

  boolean knows(Stand stand) {
    return stands.get(stand.attempt) == stand;
  }

  void forget(Stand stand, Was was, How how) {
    if (stands.remove(stand.attempt, stand)) {
      news.forget(stand.attempt);
      ended.put(stand.attempt, new Reply.Ended(stand.attempt, was, how, false));
    }
  }

  void drop(Stand stand) {
    stands.remove(stand.attempt, stand);
  }

  /** Runs the task, inside a step, once a request has been under way for too long. */
  Future<?> afterPatience(Runnable task) {
    return store.later(() -> step(task), CuratorStore.PATIENCE.toNanos());
  }

  /** Requests of the attempt wait for an earlier one of it. */
  void waitsInLine(Stand stand) {
    if (stand.isAlone()) {
      inLine.putIfAbsent(stand.name, stand);
    }
  }

  void isUnderWay(Stand stand) {
    inLine.remove(stand.name, stand);
  }

  // ---- Requests ----

  @Override
  public void submit(Request request, Consumer<Reply> sink) {
    Reply refusal = store.profile().refusal(request).orElse(null);
    String illegal = LockPaths.refusal(request.name());
    if (refusal == null && illegal != null && !(request instanceof Request.Abandon)) {
      refusal = new Reply.Refused(request.attempt(), Why.UNSUPPORTED, illegal);
    }
    if (refusal != null) {
      sink.accept(refusal);
      return;
    }
    step(() -> dispatch(request, sink, illegal != null));
  }

  private void dispatch(Request request, Consumer<Reply> sink, boolean illegal) {
    Stand stand = stands.get(request.attempt());
    Stand before = inLine.get(request.name());
    if (over || wire == null) {
      Reply.Ended end = request instanceof Request.Abandon ? ended.get(request.attempt()) : null;
      Reply gone =
          new Reply.Refused(
              request.attempt(), Why.SESSION_GONE, "The session of this request is over.");
      after(() -> sink.accept(end == null ? gone : end));
    } else if (before != null && before != stand) {
      before.later(() -> dispatch(request, sink, illegal));
    } else if (stand != null) {
      stand.submit(request, sink);
    } else {
      begin(request, sink, illegal);
    }
  }

  private void begin(Request request, Consumer<Reply> sink, boolean illegal) {
    AttemptId attempt = request.attempt();
    Reply.Ended end = ended.get(attempt);
    boolean mine = attempt.session().equals(spec.id());
    if (request instanceof Request.Acquire acquire && end == null) {
      Stand stand = store.stand(this, acquire);
      stands.put(attempt, stand);
      stand.submit(request, sink);
    } else if (request instanceof Request.Abandon && !mine && !illegal) {
      store.foreign(this, request.name(), attempt).submit(request, sink);
    } else {
      Reply reply = withoutStand(request, end);
      after(() -> sink.accept(reply));
    }
  }

  private static Reply withoutStand(Request request, Reply.@Nullable Ended end) {
    AttemptId attempt = request.attempt();
    if (request instanceof Request.Abandon) {
      return end == null ? new Reply.Ended(attempt, Was.ABSENT, How.UNKNOWN, false) : end;
    } else if (request instanceof Request.Adjust) {
      return new Reply.Refused(
          attempt, Why.NOT_HELD, "The attempt does not hold lock '" + request.name() + "'.");
    }
    return new Reply.Refused(attempt, Why.ENDED, "The attempt has ended.");
  }

  // ---- Life ----

  @Override
  public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen) {
    CompletableFuture<Renewal> answer = new CompletableFuture<>();
    guard.lock();
    try {
      lastAsked = System.nanoTime();
      if (over || (wire == null && previous != 0)) {
        return CompletableFuture.completedFuture(new Renewal.Lost("the session is over"));
      }
      if (wire == null) {
        connect();
        var unused = connected.thenAccept(code -> opened(code, previous, next, seen, answer));
      } else if (!connected.isDone()) {
        var unused = connected.thenAccept(code -> opened(code, previous, next, seen, answer));
      } else {
        touch(previous, next, seen, answer);
      }
    } catch (IOException | RuntimeException e) {
      return CompletableFuture.completedFuture(new Renewal.Unknown(e));
    } finally {
      guard.unlock();
    }
    return answer.completeOnTimeout(
        new Renewal.Unknown(
            new StoreUnavailableException("ZooKeeper did not answer (store=" + storeName() + ").")),
        CuratorStore.PATIENCE.plus(store.tick()).toMillis(),
        TimeUnit.MILLISECONDS);
  }

  private void connect() throws IOException {
    ZooKeeper client = store.connect(Math.toIntExact(spec.ttl().toMillis()), this::happened);
    wire = new Wire(client, store.acl());
    watchEngine(spec.ttl().toNanos());
  }

  private void happened(WatchedEvent event) {
    if (event.getType() != EventType.None) {
      return;
    }
    if (event.getState() == KeeperState.SyncConnected) {
      connected.complete(Code.OK);
    } else if (event.getState() == KeeperState.AuthFailed) {
      connected.complete(Code.AUTHFAILED);
    } else if (event.getState() == KeeperState.Expired) {
      connected.complete(Code.SESSIONEXPIRED);
      end();
    }
  }

  private void opened(
      Code code, long previous, long next, List<Long> seen, CompletableFuture<Renewal> answer) {
    ZooKeeper client = wire().client();
    if (code == Code.OK && client.getSessionTimeout() < spec.ttl().toMillis()) {
      answer.complete(
          new Renewal.Unknown(
              new StoreUnfitException(
                  "ZooKeeper gives sessions of at most "
                      + client.getSessionTimeout()
                      + " ms, and "
                      + spec.ttl().toMillis()
                      + " ms were asked for (store="
                      + storeName()
                      + "). Choose a shorter TTL or raise the server's maxSessionTimeout.")));
    } else {
      renewed(code, previous, next, seen, answer);
    }
  }

  private void touch(long previous, long next, List<Long> seen, CompletableFuture<Renewal> answer) {
    wire()
        .stat(
            "/",
            (code, stat) -> {
              if (code != Code.OK && code != Code.NONODE) {
                renewed(code, previous, next, seen, answer);
                return;
              }
              long tick = Math.min(store.tick().toNanos(), spec.ttl().toNanos() / 2);
              var unused = store.later(() -> confirm(previous, next, seen, answer), tick);
            });
  }

  private void confirm(
      long previous, long next, List<Long> seen, CompletableFuture<Renewal> answer) {
    wire().sync("/", (code, done) -> renewed(code, previous, next, seen, answer));
  }

  private void renewed(
      Code code, long previous, long next, List<Long> seen, CompletableFuture<Renewal> answer) {
    Renewal renewal;
    guard.lock();
    try {
      if (over || code == Code.SESSIONEXPIRED) {
        renewal = new Renewal.Lost("ZooKeeper ended the session");
      } else if (code != Code.OK) {
        renewal =
            new Renewal.Unknown(
                new StoreUnavailableException(
                    "ZooKeeper answered " + code + " (store=" + storeName() + ").",
                    KeeperException.create(code)));
      } else if (beat != previous && beat != next) {
        renewal = new Renewal.Lost("another process renews the same session");
      } else {
        beat = next;
        renewal = news.tell(seen);
      }
    } finally {
      guard.unlock();
    }
    answer.complete(renewal);
  }

  private void watchEngine(long delay) {
    var unused = store.later(this::closeIfNotRenewed, delay);
  }

  private void closeIfNotRenewed() {
    long left;
    guard.lock();
    try {
      left = over ? 0 : lastAsked + spec.ttl().toNanos() - System.nanoTime();
    } finally {
      guard.unlock();
    }
    if (left > 0) {
      watchEngine(left);
    } else {
      end();
      close();
    }
  }

  /** The server has deleted the session's nodes, or is going to; others may hold. */
  private void end() {
    guard.lock();
    try {
      over = true;
      stands
          .values()
          .forEach(
              stand ->
                  ended.put(
                      stand.attempt,
                      new Reply.Ended(stand.attempt, stand.present(), How.TAKEN, false)));
      stands.clear();
      inLine.clear();
    } finally {
      guard.unlock();
    }
  }

  @Override
  public CompletionStage<Void> close() {
    guard.lock();
    try {
      if (!over) {
        // Of its own will: nobody has taken anything.
        stands.clear();
        ended.clear();
        end();
      }
      if (closing == null) {
        Wire open = wire;
        closing =
            open == null
                ? CompletableFuture.completedFuture(null)
                : CompletableFuture.runAsync(() -> Wire.close(open.client()), store.worker());
      }
      return closing;
    } finally {
      guard.unlock();
      store.ended(this);
    }
  }

  /** What is left of the session if it is not renewed again; for people. */
  Duration left() {
    guard.lock();
    try {
      long left = lastAsked + spec.ttl().toNanos() - System.nanoTime();
      return over || wire == null ? Duration.ZERO : Duration.ofNanos(Math.max(0, left));
    } finally {
      guard.unlock();
    }
  }

  long beat() {
    guard.lock();
    try {
      return beat;
    } finally {
      guard.unlock();
    }
  }
}
