package io.mortise.zookeeper.internal.queue;

import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.zookeeper.internal.node.AtLeastMark;
import io.mortise.zookeeper.internal.node.LockQueue;
import io.mortise.zookeeper.internal.node.MultiRead.NodeContent;
import io.mortise.zookeeper.internal.node.NodeData;
import io.mortise.zookeeper.internal.queue.QueueEffect.Arrival;
import io.mortise.zookeeper.internal.queue.QueueEffect.LeaveNotes;
import io.mortise.zookeeper.internal.queue.QueueEffect.ListNodes;
import io.mortise.zookeeper.internal.queue.QueueEffect.NotesPurpose;
import io.mortise.zookeeper.internal.queue.QueueEffect.NotifyEngine;
import io.mortise.zookeeper.internal.queue.QueueEffect.OpenLock;
import io.mortise.zookeeper.internal.queue.QueueEffect.ReadNodes;
import io.mortise.zookeeper.internal.queue.QueueEffect.ReadPurpose;
import io.mortise.zookeeper.internal.queue.QueueEffect.ReadQueue;
import io.mortise.zookeeper.internal.queue.QueueEffect.RewriteNode;
import io.mortise.zookeeper.internal.queue.QueueEffect.WatchNode;
import io.mortise.zookeeper.internal.queue.QueueEffect.WatchOwnNode;
import io.mortise.zookeeper.internal.queue.QueueEffect.WatchSuccessors;
import io.mortise.zookeeper.internal.queue.QueueEffect.WithdrawalReason;
import io.mortise.zookeeper.internal.queue.ZooKeeperAttempt.NodeState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Determines which attempt holds a lock, and calls waiting attempts: the watches that a session
 * sets in a queue, and its reaction to each look. Guarded by its session.
 *
 * <p><b>In a short queue</b> the children are listed: two reads, and the answer can name the
 * holder. The second of two attempts reads and watches only the number before its own, which holds.
 *
 * <p><b>In a long queue</b> the children are not listed. Sequence numbers are assigned without
 * gaps, so a newcomer watches the number before its own. If that node is gone already, the newcomer
 * lists once. A holder that knows of many waiters marks its node in the transaction that removes
 * it. The next waiter sees the mark instead of the removal, and knows that it is the first. So a
 * hand-off costs one small read, whatever the number of waiters. A waiter that sees a removal
 * without a mark lists once, and watches the next node before its own.
 *
 * <p><b>No grant counts</b> before the attempt's own node was read: it must exist, and be owned by
 * this very session. The first waiter knows that the node before its own holds. It reads and
 * watches its own node at once. So it holds as soon as the removal of the holder's node is
 * reported: a removal of its own node would have been reported before.
 *
 * <p><b>At-least times.</b> Each list shows their marks, which are counted from then on; those that
 * are over are removed, and the queue is listed again. A hold with a mark has a signed node, and a
 * removal of it is no proof that the next attempt holds: the queue is listed.
 */
final class QueueScan {
  /** The largest queue that a newcomer lists. */
  static final int SHORT = 64;

  /** The most holders that are read, and told that they are wanted. */
  private static final int MOST_HEADS = 64;

  /** The most nodes of a long queue that are read once sessions in it have ended. */
  private static final int MOST_IN_FRONT = 1_000;

  private final LockRequests requests;

  /** The current request, if the next look should answer it. */
  private @Nullable PendingRequest requester;

  private boolean looking;
  private boolean lookAgain;

  /**
   * Whether every change of the queue is reported: with permits, any change may be the first
   * waiter's turn.
   */
  private boolean watchesAll;

  /** Counts connections: a watch reports events only while its connection lasts. */
  private int connection;

  QueueScan(LockRequests requests) {
    this.requests = requests;
  }

  boolean isLooking() {
    return looking;
  }

  /** Events are missed from now on, or come in another order. */
  void disconnected() {
    connection++;
    requests.watches.forgetNext();
  }

  // ---- Queueing ----

  /**
   * The second of two attempts, or a newcomer to a long queue, reads only the number before its
   * own.
   */
  void arrive(Arrival arrival) {
    ZooKeeperAttempt attempt = arrival.attempt();
    boolean lists = !arrival.isSecond() && arrival.children() <= SHORT;
    if (lists || !attempt.isExclusive() || !attempt.queues) {
      lookFor(arrival.request());
      return;
    }
    int before = attempt.seq - 1;
    if (arrival.isSecond()) {
      watchOwn(attempt, before, OptionalInt.empty());
    }
    requests.watches.watch(attempt, before);
    requests.effects.add(new WatchNode(new LockQueue.QueueNode(attempt.weight(), before), arrival));
  }

  /** The first waiter, or several readers, watch the node before; or that node has gone. */
  void watched(WatchNode watch, NodeContent nodeContent) {
    Stat stat = nodeContent.stat();
    if (stat == null) {
      // No watch will call them.
      requests.watches.called(watch.node().seq());
    }
    if (NodeData.isTimed(nodeContent.data())) {
      // The removal of that node leaves the lock shut.
      requests.watches.forgetNext();
    }
    Arrival arrival = watch.arrival();
    if (arrival == null) {
      // A holder that was written to may take less since the queue was listed.
      int seq = watch.node().seq();
      if (stat == null || (stat.getVersion() > 0 && requests.watches.hasReader(seq))) {
        look();
      }
      return;
    }
    NodeData.AttemptData holder = NodeData.attempt(nodeContent.data());
    if (stat != null && !arrival.isSecond()) {
      queue(arrival.request(), arrival.attempt(), arrival.children() - 1, null);
    } else if (stat != null && holder != null) {
      leaveNotes(
          List.of(holder.attempt()),
          new NotesPurpose.Queueing(arrival.request(), arrival.attempt(), holder(holder, stat)));
    } else {
      lookFor(arrival.request());
    }
  }

  /**
   * @param before how many nodes are before it; the first of them holds, or will at once
   */
  private void queue(
      PendingRequest request, ZooKeeperAttempt attempt, int before, Reply.@Nullable Holder holder) {
    queue(request, attempt, before, holder, Duration.ZERO);
  }

  private void queue(
      PendingRequest request,
      ZooKeeperAttempt attempt,
      int before,
      Reply.@Nullable Holder holder,
      Duration shutFor) {
    requests.answer(
        request,
        new Reply.Queued(
            requests.attempts.id(attempt),
            Math.max(0, before - 1),
            holder,
            requests.retryAfter(shutFor)));
    requests.finish();
  }

  private Reply.Holder holder(NodeData.AttemptData attemptData, Stat stat) {
    return new Reply.Holder(
        attemptData.attempt(),
        requests.session.tokenRank(stat.getCzxid()) << 16,
        attemptData.ttl());
  }

  /** Holders in this session are told at once, others by notes. */
  private void leaveNotes(List<AttemptId> holders, NotesPurpose purpose) {
    List<AttemptId> others = new ArrayList<>();
    for (AttemptId holder : holders) {
      if (requests.attempts.isOurs(holder)) {
        requests
            .attempts
            .want(holder)
            .ifPresent(notification -> requests.effects.add(new NotifyEngine(notification)));
      } else {
        others.add(holder);
      }
    }
    if (others.isEmpty()) {
      goOn(purpose);
    } else {
      requests.effects.add(new LeaveNotes(others, purpose));
    }
  }

  void goOn(NotesPurpose purpose) {
    if (purpose instanceof NotesPurpose.Queueing queueing) {
      queue(queueing.request(), queueing.attempt(), 1, queueing.holder());
    } else if (purpose instanceof NotesPurpose.Concluding concluding) {
      conclude(concluding.look());
    }
  }

  // ---- Watching ----

  /**
   * The first waiter watches for the removal of its own node and for another node behind it. So
   * when the removal of the holder's node is reported, it holds, and knows whether the lock is
   * wanted: over one connection, watches report events in order.
   */
  private void watchOwn(ZooKeeperAttempt attempt, int holder, OptionalInt behind) {
    requests.effects.add(new WatchOwnNode(attempt, holder, behind, connection));
    if (behind.isEmpty()) {
      requests.effects.add(new WatchSuccessors(attempt, connection));
    }
  }

  /** The first waiter's own node was read. */
  void ownWatched(WatchOwnNode watch, NodeContent nodeContent) {
    ZooKeeperAttempt attempt = watch.attempt();
    Stat stat = nodeContent.stat();
    if (isSame(watch.connection()) && stat != null && requests.isOurs(nodeContent, attempt)) {
      requests.watches.next(attempt, watch.holder(), stat.getCzxid());
      watch.behind().ifPresent(behind -> requests.watches.behindNext(attempt, behind));
    }
  }

  /** The queue was listed: two of its nodes are the holder's and the first waiter's. */
  void successorsWatched(WatchSuccessors watch, int nodes) {
    if (isSame(watch.connection())) {
      requests.watches.behindNext(watch.attempt(), Math.max(0, nodes - 2));
    }
  }

  /** Whether no watched event can have been missed since then. */
  private boolean isSame(int since) {
    return requests.session.isUp() && connection == since;
  }

  /** A node was added or removed. */
  void childrenChanged() {
    requests.watches.queueChanged();
    if (watchesAll) {
      look();
    }
  }

  /** The node with this number was removed, or written to. */
  void nodeChanged(EventType type, int seq) {
    WatchTable.NextWaiter next = requests.watches.nextAfter(seq);
    requests.watches.happened(seq);
    List<ZooKeeperAttempt> called = requests.watches.called(seq);
    if (!called.isEmpty()) {
      call(called, type, seq, next);
    }
  }

  private void call(
      List<ZooKeeperAttempt> called,
      EventType type,
      int seq,
      WatchTable.@Nullable NextWaiter next) {
    ZooKeeperAttempt first = called.get(0);
    if (type == EventType.NodeDeleted
        && next != null
        && next.behind().isPresent()
        && called.equals(List.of(next.attempt()))
        && !first.leaving) {
      requests.grant(first, next.czxid(), next.behind().getAsInt());
      requests.announce(first);
      return;
    }
    boolean alone =
        called.size() == 1 && first.isExclusive() && !looking && requests.endedSessions.isEmpty();
    if (alone && type == EventType.NodeDataChanged) {
      beginLook();
      requests.effects.add(
          new ReadNodes(
              new ReadPurpose.Confirming(first),
              List.of(
                  requests.node(first),
                  requests.path,
                  requests.path + "/" + LockQueue.node(Mode.SHARERS, seq))));
    } else if (alone && requester == null) {
      beginLook();
      requests.effects.add(new ReadQueue(first));
    } else {
      look();
    }
  }

  /** The node that the attempt watched has gone, and may have held: the first one holds by now. */
  void queueRead(ReadQueue read, @Nullable List<String> children, NodeContent own) {
    ZooKeeperAttempt attempt = read.attempt();
    Stat stat = own.stat();
    if (children == null) {
      lookAgain = true;
      endLook();
      return;
    }
    LockQueue queue = LockQueue.of(children, attempt.capacity());
    boolean waits = requests.waiting.containsKey(attempt.number) && !attempt.leaving;
    if (waits
        && stat != null
        && queue.indexOf(attempt.seq) == 0
        && queue.grantable() > 0
        && requests.isOurs(own, attempt)) {
      requests.grant(attempt, stat.getCzxid(), queue.size() - 1);
      requests.announce(attempt);
      endLook();
    } else {
      listed(new QueueLook(null, false), Code.OK, children);
    }
  }

  /**
   * The node that the attempt watched has held and gone: the attempt holds if its own node exists.
   */
  void confirmingRead(ReadPurpose.Confirming confirming, @Nullable List<NodeContent> nodeContents) {
    ZooKeeperAttempt attempt = confirming.attempt();
    Stat own = nodeContents == null ? null : nodeContents.get(0).stat();
    Stat container = nodeContents == null ? null : nodeContents.get(1).stat();
    if (nodeContents == null
        || container == null
        || nodeContents.get(2).stat() != null
        || NodeData.isTimed(nodeContents.get(1).data())) {
      lookAgain = true;
    } else if (attempt.state() == NodeState.WAITING && !attempt.leaving) {
      if (own == null || !requests.isOurs(nodeContents.get(0), attempt)) {
        requests.vanish(attempt);
      } else {
        requests.grant(attempt, own.getCzxid(), container.getNumChildren() - 1);
        requests.announce(attempt);
      }
    }
    endLook();
  }

  // ---- Looking ----

  /** Has the next look answer this request. */
  void lookFor(PendingRequest request) {
    requester = request;
    look();
  }

  /** Lists the queue, and updates each of our attempts. */
  void look() {
    if (looking) {
      lookAgain = true;
      return;
    }
    beginLook();
    requests.effects.add(new ListNodes(new QueueLook(requester, watchesAll)));
    requester = null;
  }

  private void beginLook() {
    looking = true;
    requests.attempts.lookBegins();
  }

  private void endLook() {
    looking = false;
    requests.attempts.lookEnds();
    if (lookAgain || requester != null) {
      lookAgain = false;
      look();
    }
  }

  private @Nullable ZooKeeperAttempt asking(QueueLook look) {
    return look.requester == null ? null : requests.waiting.get(look.requester.attempt().number());
  }

  void listed(QueueLook look, Code code, @Nullable List<String> children) {
    if (code != Code.OK && code != Code.NONODE) {
      failLook(look);
      return;
    }
    if (requests.waiting.isEmpty()) {
      conclude(look);
      return;
    }
    int capacity = requests.waiting.values().iterator().next().capacity();
    look.queue =
        LockQueue.of(children == null ? List.of() : children, capacity, requests.endedSessions);
    requests.keepEnded(look.queue.ended());
    List<AtLeastMark> over = observeAtLeast(look);
    if (!over.isEmpty()) {
      requests.effects.add(new OpenLock(look, over));
      return;
    }
    placeAll(look);
    // With permits, any change may be the turn of the first waiter.
    boolean all = (capacity != Mode.SHARERS && look.waits) || look.heldUp;
    lookAgain |= all && !look.watching;
    watchesAll = all;
    boolean told = look.waits || asking(look) != null;
    // A lock that is shut may have holders that are not seen as such.
    look.heads = told ? Math.min(look.queue.holdingOnceOpen(), MOST_HEADS) : 0;
    List<String> paths = new ArrayList<>();
    for (int i = 0; i < look.heads; i++) {
      paths.add(requests.path + "/" + look.queue.place(i).node());
    }
    look.holding.forEach(attempt -> paths.add(requests.node(attempt)));
    look.queue.ended().forEach(node -> paths.add(requests.path + "/" + node.node()));
    int ended = look.queue.ended().size();
    if (ended > 0 && ended + look.queue.size() > SHORT) {
      // Which others are of the same sessions. A short queue is known.
      for (int i = look.heads; i < Math.min(look.queue.size(), MOST_IN_FRONT); i++) {
        paths.add(requests.path + "/" + look.queue.place(i).node());
      }
    }
    if (paths.isEmpty()) {
      seen(look, List.of());
    } else {
      requests.effects.add(new ReadNodes(new ReadPurpose.Looking(look), paths));
    }
  }

  /** Counts all at-least times of the lock. Returns those that are over, and keep it shut. */
  private List<AtLeastMark> observeAtLeast(QueueLook look) {
    List<AtLeastMark> over = new ArrayList<>();
    for (AtLeastMark mark : look.queue.lastMarks()) {
      Duration left = requests.session.atLeastLeft(mark);
      if (look.queue.isShutBy(mark) && left.isZero()) {
        over.addAll(look.queue.marks(mark.seq()));
      } else if (look.queue.isShutBy(mark) && left.compareTo(look.shutFor) > 0) {
        look.shutFor = left;
      }
    }
    return over;
  }

  /** Marks were removed, or others have done so. */
  void opened(OpenLock opening, Code code) {
    if (code != Code.OK && code != Code.NONODE) {
      failLook(opening.look());
    } else {
      requests.effects.add(new ListNodes(new QueueLook(opening.look().requester, watchesAll)));
    }
  }

  /**
   * Determines which of our attempts hold by now, and has the others watch the node before theirs.
   */
  private void placeAll(QueueLook look) {
    LockQueue queue = look.queue;
    Map<Integer, List<ZooKeeperAttempt>> behind = new LinkedHashMap<>();
    for (ZooKeeperAttempt attempt : requests.waiting.values()) {
      int index = queue.indexOf(attempt.seq);
      if (index < 0) {
        look.missing.add(attempt);
      } else if (index < queue.grantable()) {
        look.holding.add(attempt);
      } else if (attempt.queues) {
        look.waits |= index == queue.holding() || index == queue.holdingOnceOpen();
        if (index < queue.holdingOnceOpen()) {
          // It is called by any change of the queue.
          look.heldUp = true;
          requests.watches.watchesNothing(attempt);
          continue;
        }
        int before = queue.watched(index, attempt.isShared());
        int seq = queue.place(before).seq();
        if (!requests.watches.watches(attempt, seq)) {
          boolean isNext =
              index == 1 && queue.holding() > 0 && !queue.hasAtLeast() && queue.ended().isEmpty();
          if (isNext && attempt.isExclusive()) {
            int successors = queue.size() - 2;
            watchOwn(
                attempt, seq, successors > 0 ? OptionalInt.of(successors) : OptionalInt.empty());
          }
          behind.computeIfAbsent(before, unused -> new ArrayList<>()).add(attempt);
        }
      }
    }
    behind.forEach(
        (before, waiters) -> {
          LockQueue.QueueNode node = queue.place(before);
          waiters.forEach(waiter -> requests.watches.watch(waiter, node.seq()));
          requests.effects.add(new WatchNode(node, null));
        });
  }

  void seen(QueueLook look, List<NodeContent> nodeContents) {
    int read = look.heads + look.holding.size();
    List<LockQueue.QueueNode> ended = look.queue.ended();
    if (!confirmEnded(ended, nodeContents.subList(read, read + ended.size()))) {
      requests.effects.add(new ListNodes(new QueueLook(look.requester, watchesAll)));
      return;
    }
    for (ZooKeeperAttempt attempt : look.missing) {
      if (requests.waiting.containsKey(attempt.number)) {
        requests.vanish(attempt);
      }
    }
    int waiters = look.queue.size() - look.queue.holding();
    int at = look.heads;
    for (ZooKeeperAttempt attempt : look.holding) {
      NodeContent nodeContent = nodeContents.get(at++);
      if (requests.waiting.containsKey(attempt.number)) {
        seenHolding(attempt, nodeContent, waiters);
      }
    }
    leaveNotes(heads(look, nodeContents), new NotesPurpose.Concluding(look));
  }

  /**
   * Whether nodes that were passed are still there, and of the sessions that have ended. Forgets
   * those that are not.
   */
  private boolean confirmEnded(List<LockQueue.QueueNode> ended, List<NodeContent> nodeContents) {
    boolean all = true;
    for (int i = 0; i < nodeContents.size(); i++) {
      int seq = ended.get(i).seq();
      NodeData.AttemptData attemptData = NodeData.attempt(nodeContents.get(i).data());
      if (attemptData == null
          || !attemptData.attempt().session().equals(requests.endedSessions.get(seq))) {
        requests.endedSessions.remove(seq);
        all = false;
      }
    }
    return all;
  }

  private void seenHolding(ZooKeeperAttempt attempt, NodeContent nodeContent, int waiters) {
    Stat stat = nodeContent.stat();
    if (stat == null || !requests.isOurs(nodeContent, attempt)) {
      requests.vanish(attempt);
      return;
    }
    requests.grant(attempt, stat.getCzxid(), waiters);
    if (attempt.capacity() != Mode.SHARERS) {
      // The waiter that watches it becomes the first one.
      requests.effects.add(new RewriteNode(attempt, nodeContent));
    }
    requests.announce(attempt);
  }

  /** Remembers the first holder. Returns the holders to tell of a contender. */
  private List<AttemptId> heads(QueueLook look, List<NodeContent> nodeContents) {
    ZooKeeperAttempt asking = asking(look);
    boolean tries = asking != null && !asking.queues;
    List<AttemptId> untold = new ArrayList<>();
    for (int i = 0; i < look.heads; i++) {
      NodeData.AttemptData attemptData = NodeData.attempt(nodeContents.get(i).data());
      Stat stat = nodeContents.get(i).stat();
      if (attemptData != null && stat != null) {
        if (look.holder == null && i < look.queue.holding()) {
          look.holder = holder(attemptData, stat);
        }
        if (look.waits || tries) {
          untold.add(attemptData.attempt());
        }
      }
    }
    return untold;
  }

  /** Answers the request of the look, if the look has not answered it before. */
  private void conclude(QueueLook look) {
    PendingRequest request = look.requester;
    ZooKeeperAttempt attempt = asking(look);
    if (request != null && attempt == null) {
      // It was granted and answered, or its node has vanished.
      if (!requests.isOwed(request)) {
        requests.refuseAsRemoved(request);
      }
      requests.finish();
    } else if (request != null && attempt != null && attempt.queues) {
      // Nobody is about to hold a lock that is shut.
      int next = look.shutFor.isZero() ? 0 : 1;
      int before = Math.max(0, look.queue.indexOf(attempt.seq)) + next;
      queue(request, attempt, before, look.holder, look.shutFor);
    } else if (request != null && attempt != null) {
      requests.withdraw(
          request,
          attempt,
          new WithdrawalReason.HeldByOther(look.holder, requests.retryAfter(look.shutFor)));
    }
    endLook();
  }

  void failLook(QueueLook look) {
    if (look.requester != null) {
      requests.fail(look.requester, true, "the connection was lost.");
      requests.finish();
    }
    // The next connection starts a new look.
    lookAgain = false;
    endLook();
  }
}
