package io.mortise.zookeeper;

import io.mortise.internal.storekit.NotificationBuffer;
import io.mortise.internal.storekit.OutboxLock;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.time.Ticker;
import io.mortise.zookeeper.internal.DelayedTaskScheduler;
import io.mortise.zookeeper.internal.EphemeralNodeCleaner;
import io.mortise.zookeeper.internal.ZooKeeperConnection;
import io.mortise.zookeeper.internal.node.AttemptIndex;
import io.mortise.zookeeper.internal.node.NodeLayout;
import io.mortise.zookeeper.internal.node.TokenEpoch;
import io.mortise.zookeeper.internal.queue.LockQueueState;
import io.mortise.zookeeper.internal.queue.SessionFacts;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/**
 * One session: a ZooKeeper session with its node, its attempts, and what it is told.
 *
 * <p><b>Parts.</b> {@link SessionRenewal} opens and renews it. {@link LockQueueState} is the
 * machine that decides what is done about a lock name; {@link LockQueueManager} has one for each,
 * and executes what it decides. {@link NodeWriter} sends creations and removals, many in one
 * transaction. {@link NotificationBuffer} keeps notifications until they are acknowledged. All of
 * it is passive, under one {@link OutboxLock}; answers and events come on the ZooKeeper client's
 * event thread, in order.
 *
 * <p><b>What order gives.</b> Requests of one ZooKeeper session are executed in order, and events
 * come before the answer to any later request. So a read that follows a creation in the same flush
 * sees it, and whoever has read the queue and set a watch on the one before it misses nothing.
 *
 * <p><b>Lost answers.</b> A request whose connection broke was executed before the next connection
 * serves the session, or never. So after each new connection what is in doubt is looked up, by the
 * attempt ids in the nodes' data, and is in doubt no more.
 */
final class SessionCore implements ZooKeeperConnection.ConnectionListener, SessionFacts {
  private static final long AGAIN_NANOS = 500_000_000;

  private final ZooKeeperLockStore store;
  private final SessionSpec spec;
  private final OutboxLock guard = new OutboxLock();
  private final List<Consumer<SessionNotification>> listeners = new CopyOnWriteArrayList<>();
  private final List<Consumer<String>> lost = new CopyOnWriteArrayList<>();
  private final List<Runnable> settling = new ArrayList<>();
  private final CompletableFuture<Void> closed = new CompletableFuture<>();
  private final NotificationBuffer notificationBuffer = new NotificationBuffer();
  private final SessionRenewal sessionRenewal;
  private final NodeWriter nodeWriter;
  private final LockQueueManager queues;
  private @Nullable ZooKeeperConnection zooKeeperConnection;

  SessionCore(ZooKeeperLockStore store, Ticker ticker, SessionSpec spec) {
    this.store = store;
    this.spec = spec;
    this.sessionRenewal =
        new SessionRenewal(this, ticker, spec, store.layout().session(spec.id()), store.relay());
    this.nodeWriter = new NodeWriter(this);
    this.queues = new LockQueueManager(this, ticker, nodeWriter);
  }

  // ---- What the parts share ----

  ZooKeeperLockStore store() {
    return store;
  }

  OutboxLock guard() {
    return guard;
  }

  NodeLayout layout() {
    return store.layout();
  }

  List<ACL> acl() {
    return store.options().acl();
  }

  @Override
  public String display() {
    return store.profile().display();
  }

  SessionId id() {
    return spec.id();
  }

  @Override
  public SessionSpec spec() {
    return spec;
  }

  @Override
  public boolean isUp() {
    return connection().isUp();
  }

  @Override
  public long zooKeeperSession() {
    return connection().client().getSessionId();
  }

  @Override
  public long tokenRank(long czxid) {
    return sessionRenewal.tokenBase() + czxid;
  }

  NotificationBuffer inbox() {
    return notificationBuffer;
  }

  ZooKeeperConnection connection() {
    ZooKeeperConnection present = zooKeeperConnection;
    if (present == null) {
      throw new IllegalStateException("There is no connection yet.");
    }
    return present;
  }

  boolean isOpen() {
    return sessionRenewal.isOpen();
  }

  boolean isOver() {
    return sessionRenewal.isOver();
  }

  /**
   * Under the guard: a container and all above it, where they are missing; nobody waits for that.
   */
  void makeContainers(String path) {
    int slash = 0;
    do {
      slash = path.indexOf('/', slash + 1);
      String part = slash < 0 ? path : path.substring(0, slash);
      if (part.equals(layout().root())) {
        // Never alone: tokens would fall back to where they began without an epoch.
        connection()
            .client()
            .multi(
                TokenEpoch.initialNodes(layout(), acl()),
                (rc, given, context, results) -> {},
                null);
      } else {
        makeContainer(part, new byte[0]);
      }
    } while (slash > 0);
  }

  /** Under the guard: a container, where it is missing; nobody waits for that. */
  void makeContainer(String path, byte[] data) {
    connection()
        .client()
        .create(
            path,
            data,
            acl(),
            CreateMode.CONTAINER,
            (rc, given, context, made) -> {},
            (Object) null);
  }

  /** Under the guard: tells the engine at once, and again with the renewals until it has heard. */
  void tell(SessionNotification sessionNotification) {
    notificationBuffer.add(sessionNotification);
    guard.afterUnlock(() -> listeners.forEach(listener -> listener.accept(sessionNotification)));
  }

  /**
   * Under the guard: runs this once no look at a queue is in flight that may bring a notification.
   */
  void whenSettled(Runnable then) {
    if (queues.isSettled()) {
      then.run();
    } else {
      settling.add(then);
    }
  }

  /** Under the guard: a look at a queue has ended. */
  void settled() {
    if (!settling.isEmpty() && queues.isSettled()) {
      List<Runnable> all = List.copyOf(settling);
      settling.clear();
      all.forEach(Runnable::run);
    }
  }

  // ---- What the session does ----

  /** One more view of the session. */
  void listen(Consumer<SessionNotification> hints) {
    listeners.add(hints);
  }

  CompletionStage<Renewal> renew(long previous, long next, List<Long> seen) {
    return sessionRenewal.renew(previous, next, seen);
  }

  void submit(Request request, boolean later, Consumer<Reply> sink) {
    guard.run(() -> queues.submit(request, later, sink));
  }

  /** Tells those who have waited for too long that there was no answer. */
  void expire(long now, long requestTimeout) {
    guard.run(() -> queues.expire(now, requestTimeout));
  }

  /** Under no lock: asks for a connection. */
  void connect(int sessionMillis) {
    store.remember(this);
    store
        .executor()
        .execute(
            () -> {
              try {
                ZooKeeperConnection made = store.connector().connect(sessionMillis, this);
                guard.run(
                    () -> {
                      zooKeeperConnection = made;
                      if (sessionRenewal.isOver()) {
                        // Here, for the store, which was closed meanwhile, executes no more.
                        guard.afterUnlock(made::close);
                      } else if (made.isUp()) {
                        connected();
                      }
                    });
              } catch (RuntimeException e) {
                guard.run(() -> over("no connection could be made: " + e.getMessage()));
              }
            });
  }

  /** Under the guard: the connection is of no use. */
  void disconnect() {
    ZooKeeperConnection useless = zooKeeperConnection;
    zooKeeperConnection = null;
    if (useless != null) {
      store.executor().execute(useless::close);
    }
  }

  CompletionStage<Void> close() {
    guard.run(
        () -> {
          if (sessionRenewal.isNew()) {
            // The store knows nothing of it.
            store.forget(this);
            guard.afterUnlock(() -> closed.complete(null));
          } else {
            over("it was closed");
          }
        });
    return closed;
  }

  // ---- What the connection tells ----

  @Override
  public void connected() {
    guard.run(
        () -> {
          // The event may come before the one who connects has said which handle it is.
          if (zooKeeperConnection == null || sessionRenewal.isOver()) {
            return;
          }
          boolean again = sessionRenewal.isOpen();
          sessionRenewal.connected();
          if (again) {
            queues.reconnected();
            listNotes();
          }
        });
  }

  @Override
  public void disconnected() {
    // What was on its way is answered with a connection loss.
    guard.run(queues::disconnected);
    if (!sessionRenewal.isOver()) {
      lost.forEach(listener -> listener.accept(ZooKeeperConnection.LOST));
    }
  }

  void onConnectionLost(Consumer<String> listener) {
    lost.add(listener);
  }

  @Override
  public void over(String why) {
    guard.run(
        () -> {
          if (sessionRenewal.isOver()) {
            return;
          }
          ZooKeeperConnection last = zooKeeperConnection;
          boolean borrowed = last != null && !last.isOwn();
          List<String> nodes = borrowed ? queues.nodes() : List.of();
          Map<String, Set<AttemptId>> attemptsInDoubt =
              borrowed ? queues.attemptsInDoubt() : Map.of();
          queues.over();
          sessionRenewal.over(why);
          nodeWriter.over();
          settling.clear();
          store.forget(this);
          guard.afterUnlock(
              () ->
                  store
                      .executor()
                      .execute(
                          () -> {
                            if (last != null && borrowed) {
                              removeOurs(last, nodes);
                              attemptsInDoubt.forEach((lock, ours) -> find(last, lock, ours));
                            } else if (last != null) {
                              last.close();
                            }
                            closed.complete(null);
                          }));
        });
  }

  /** The client, and with it the ephemeral nodes, outlive this session. */
  private void removeOurs(ZooKeeperConnection last, List<String> nodes) {
    List<String> all = new ArrayList<>(nodes);
    all.add(layout().session(id()));
    EphemeralNodeCleaner.remove(last, all, layout().notes(id()));
  }

  /** What was on its way may have been made; it is known by the attempt ids in the nodes. */
  private void find(ZooKeeperConnection last, String lock, Set<AttemptId> ours) {
    if (!last.client().getState().isAlive()) {
      return;
    }
    AttemptIndex.read(
        last.client(),
        lock,
        roll -> {
          if (roll == null) {
            DelayedTaskScheduler.scheduleDetached(AGAIN_NANOS, () -> find(last, lock, ours));
            return;
          }
          List<String> nodes = new ArrayList<>();
          for (AttemptId attempt : ours) {
            Integer at = roll.index().get(attempt);
            if (at != null) {
              nodes.add(lock + "/" + roll.queue().place(at).node());
            }
          }
          if (!nodes.isEmpty()) {
            EphemeralNodeCleaner.remove(last, nodes, layout().notes(id()));
          }
        });
  }

  @Override
  public void changed(EventType type, String path) {
    guard.run(
        () -> {
          if (sessionRenewal.isOver()) {
            return;
          }
          if (!path.startsWith(layout().notes(id()))) {
            queues.changed(type, path);
          } else if (type == EventType.NodeCreated && path.length() > notesLength()) {
            noted(path);
          }
        });
  }

  private int notesLength() {
    return layout().notes(id()).length();
  }

  /** What was written while the connection was down. */
  private void listNotes() {
    String notes = layout().notes(id());
    connection()
        .client()
        .getChildren(
            notes,
            false,
            (rc, path, context, children) -> {
              if (rc == 0) {
                guard.run(() -> children.forEach(child -> noted(notes + "/" + child)));
              }
            },
            null);
  }

  private void noted(String path) {
    if (sessionRenewal.isOver()) {
      return;
    }
    try {
      queues.wanted(AttemptId.parse(NodeLayout.last(path)));
    } catch (IllegalArgumentException e) {
      return;
    }
    connection().client().delete(path, -1, (rc, given, context) -> {}, null);
  }
}
