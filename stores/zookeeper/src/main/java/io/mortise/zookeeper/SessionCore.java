package io.mortise.zookeeper;

import io.mortise.internal.queue.OutboxLock;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.time.Ticker;
import io.mortise.support.internal.session.NotificationBuffer;
import io.mortise.zookeeper.internal.AsyncNodeClient;
import io.mortise.zookeeper.internal.DelayedTaskScheduler;
import io.mortise.zookeeper.internal.EphemeralNodeCleaner;
import io.mortise.zookeeper.internal.SessionLayout;
import io.mortise.zookeeper.internal.SessionRenewal;
import io.mortise.zookeeper.internal.ZooKeeperConnection;
import io.mortise.zookeeper.internal.node.AtLeastMark;
import io.mortise.zookeeper.internal.node.AttemptIndex;
import io.mortise.zookeeper.internal.node.NodeLayout;
import io.mortise.zookeeper.internal.node.TokenEpoch;
import io.mortise.zookeeper.internal.queue.LockQueueState;
import io.mortise.zookeeper.internal.queue.SessionFacts;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/**
 * One session: a ZooKeeper session with its node, its attempts and its notifications.
 *
 * <p><b>Parts.</b> {@link SessionRenewal} opens and renews it, by way of its {@link SessionNode}.
 * {@link LockQueueState} is the state machine of one lock name; {@link LockQueueManager} has one
 * for each, and executes its effects. {@link NodeWriter} sends creations and removals, many in one
 * transaction. {@link NotificationBuffer} keeps notifications until they are acknowledged. All of
 * it is passive, under one {@link OutboxLock}; answers and events come on the ZooKeeper client's
 * event thread, in order.
 *
 * <p><b>Ordering guarantees.</b> Requests of one ZooKeeper session are executed in order, and
 * events come before the answer to any later request. So a read that follows a creation in the same
 * flush sees it, and a waiter that has read the queue and watches the node before its own misses
 * nothing.
 *
 * <p><b>Lost answers.</b> A request whose connection broke was executed before the next connection
 * serves the session, or never. So after each reconnect, attempts in doubt are looked up by the
 * attempt ids in the nodes' data, which settles them.
 */
final class SessionCore implements SessionLayout, SessionFacts {
  private final ZooKeeperLockStore store;
  private final SessionSpec spec;
  private final OutboxLock guard = new OutboxLock();
  private final List<Consumer<SessionNotification>> listeners = new CopyOnWriteArrayList<>();
  private final List<Runnable> settling = new ArrayList<>();
  private final NotificationBuffer notificationBuffer = new NotificationBuffer();
  private final SessionRenewal sessionRenewal;
  private final SessionNode sessionNode;
  private final NodeWriter nodeWriter;
  private final LockQueueManager queues;
  private @Nullable AsyncNodeClient asyncNodeClient;

  SessionCore(ZooKeeperLockStore store, Ticker ticker, SessionSpec spec) {
    this.store = store;
    this.spec = spec;
    this.sessionRenewal =
        new SessionRenewal(store.resources(), spec, guard, notificationBuffer, this);
    this.sessionNode = new SessionNode(this);
    this.nodeWriter = new NodeWriter(this);
    this.queues = new LockQueueManager(this, ticker, nodeWriter);
  }

  // ---- Shared state ----

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
  public Duration atLeastLeft(AtLeastMark mark) {
    return store.atLeastLeft(mark);
  }

  @Override
  public long tokenRank(long czxid) {
    return sessionNode.tokenBase() + czxid;
  }

  NotificationBuffer inbox() {
    return notificationBuffer;
  }

  ZooKeeperConnection connection() {
    return sessionRenewal.connection();
  }

  /** The requests for single nodes. */
  AsyncNodeClient nodes() {
    if (asyncNodeClient == null) {
      throw new IllegalStateException("The session was never opened.");
    }
    return asyncNodeClient;
  }

  boolean isOpen() {
    return sessionRenewal.isOpen();
  }

  boolean isOver() {
    return sessionRenewal.isOver();
  }

  /** Under the guard: makes a container and its missing ancestors; no caller waits for that. */
  void makeContainers(String path) {
    int slash = 0;
    do {
      slash = path.indexOf('/', slash + 1);
      String part = slash < 0 ? path : path.substring(0, slash);
      if (part.equals(layout().root())) {
        // The epoch never comes alone: without it tokens would start low again.
        nodes().multi(TokenEpoch.initialNodes(layout(), acl()), (code, results) -> {});
      } else {
        makeContainer(part, new byte[0]);
      }
    } while (slash > 0);
  }

  /** Under the guard: makes a container if it is missing; no caller waits for that. */
  void makeContainer(String path, byte[] data) {
    nodes().create(path, data, CreateMode.CONTAINER, (code, made) -> {});
  }

  /** Under the guard: tells the engine at once, and again with each renewal until acknowledged. */
  void tell(SessionNotification sessionNotification) {
    notificationBuffer.add(sessionNotification);
    guard.afterUnlock(() -> listeners.forEach(listener -> listener.accept(sessionNotification)));
  }

  // ---- Session operations ----

  /** Adds a view of the session. */
  void listen(Consumer<SessionNotification> hints) {
    listeners.add(hints);
  }

  SessionRenewal renewal() {
    return sessionRenewal;
  }

  void submit(Request request, boolean later, Consumer<Reply> sink) {
    guard.run(() -> queues.submit(request, later, sink));
  }

  /** Fails requests that have waited for too long. */
  void expire(long now, long requestTimeout) {
    guard.run(() -> queues.expire(now, requestTimeout));
  }

  // ---- Differences from the other layout ----

  @Override
  public void open(ZooKeeperConnection connection, long beat, StepCallback then) {
    asyncNodeClient = new AsyncNodeClient(connection.client(), acl(), guard);
    sessionNode.open(beat, then);
  }

  @Override
  public void sendRenewal(long beat, StepCallback then) {
    sessionNode.write(beat, then);
  }

  @Override
  public void whenSettled(Runnable then) {
    if (queues.isSettled()) {
      then.run();
    } else {
      settling.add(then);
    }
  }

  /** Under the guard: a read of a queue has ended. */
  void settled() {
    if (queues.isSettled()) {
      runSettling();
    }
  }

  private void runSettling() {
    if (!settling.isEmpty()) {
      List<Runnable> all = List.copyOf(settling);
      settling.clear();
      all.forEach(Runnable::run);
    }
  }

  @Override
  public void disconnected() {
    queues.disconnected();
  }

  @Override
  public void reconnected() {
    // First: the note of an eviction comes before the look that misses the node.
    listNotes();
    queues.reconnected();
  }

  @Override
  public void end(boolean isTaken, @Nullable ZooKeeperConnection lent, Runnable then) {
    List<String> nodes = lent == null ? List.of() : queues.nodes();
    Map<String, Set<AttemptId>> inDoubt = lent == null ? Map.of() : queues.attemptsInDoubt();
    queues.over();
    nodeWriter.over();
    runSettling();
    store.forget(this);
    if (lent != null) {
      removeOurs(lent, nodes);
      inDoubt.forEach((lock, ours) -> find(lent, lock, ours));
    }
    then.run();
  }

  /** The client, and with it the ephemeral nodes, outlive this session. */
  private void removeOurs(ZooKeeperConnection last, List<String> nodes) {
    List<String> all = new ArrayList<>(nodes);
    all.add(layout().session(id()));
    EphemeralNodeCleaner.remove(last, all, layout().notes(id()));
  }

  /** Creations in flight may have been executed; the attempt ids in the nodes tell. */
  private void find(ZooKeeperConnection last, String lock, Set<AttemptId> ours) {
    if (!last.client().getState().isAlive()) {
      return;
    }
    AttemptIndex.read(
        last.client(),
        lock,
        roll -> {
          if (roll == null) {
            DelayedTaskScheduler.retryDetached(() -> find(last, lock, ours));
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
    if (!path.startsWith(layout().notes(id()))) {
      queues.changed(type, path);
    } else if (type == EventType.NodeCreated && path.length() > notesLength()) {
      noted(path);
    }
  }

  private int notesLength() {
    return layout().notes(id()).length();
  }

  /** Reads notes that were written while the connection was down. */
  private void listNotes() {
    String notes = layout().notes(id());
    nodes()
        .children(
            notes,
            null,
            (code, children) -> {
              if (children != null) {
                children.forEach(child -> noted(notes + "/" + child));
              }
            });
  }

  private void noted(String path) {
    if (sessionRenewal.isOver()) {
      return;
    }
    String note = NodeLayout.last(path);
    try {
      if (note.endsWith(NodeLayout.EVICTED)) {
        int length = note.length() - NodeLayout.EVICTED.length();
        queues.evicted(AttemptId.parse(note.substring(0, length)));
      } else {
        queues.wanted(AttemptId.parse(note));
      }
    } catch (IllegalArgumentException e) {
      return;
    }
    nodes().delete(path, (code, deleted) -> {});
  }
}
