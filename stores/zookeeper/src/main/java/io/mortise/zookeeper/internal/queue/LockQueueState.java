package io.mortise.zookeeper.internal.queue;

import io.mortise.LockName;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.support.internal.session.Refusals;
import io.mortise.zookeeper.internal.node.AttemptIndex;
import io.mortise.zookeeper.internal.node.LockQueue;
import io.mortise.zookeeper.internal.node.MultiRead.NodeContent;
import io.mortise.zookeeper.internal.node.NodeData;
import io.mortise.zookeeper.internal.queue.QueueEffect.CreateNode;
import io.mortise.zookeeper.internal.queue.QueueEffect.EndForeign;
import io.mortise.zookeeper.internal.queue.QueueEffect.EndSession;
import io.mortise.zookeeper.internal.queue.QueueEffect.KeepShut;
import io.mortise.zookeeper.internal.queue.QueueEffect.ListHolders;
import io.mortise.zookeeper.internal.queue.QueueEffect.NarrowNode;
import io.mortise.zookeeper.internal.queue.QueueEffect.NotesPurpose;
import io.mortise.zookeeper.internal.queue.QueueEffect.OpenLock;
import io.mortise.zookeeper.internal.queue.QueueEffect.ReadNodes;
import io.mortise.zookeeper.internal.queue.QueueEffect.ReadPurpose;
import io.mortise.zookeeper.internal.queue.QueueEffect.ReadQueue;
import io.mortise.zookeeper.internal.queue.QueueEffect.RemovalCause;
import io.mortise.zookeeper.internal.queue.QueueEffect.RemoveContainer;
import io.mortise.zookeeper.internal.queue.QueueEffect.RemoveNode;
import io.mortise.zookeeper.internal.queue.QueueEffect.Urgency;
import io.mortise.zookeeper.internal.queue.QueueEffect.WatchNode;
import io.mortise.zookeeper.internal.queue.QueueEffect.WatchOwnNode;
import io.mortise.zookeeper.internal.queue.QueueEffect.WatchSuccessors;
import io.mortise.zookeeper.internal.queue.QueueEffect.WithdrawalReason;
import io.mortise.zookeeper.internal.queue.ZooKeeperAttempt.NodeState;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.jspecify.annotations.Nullable;

/**
 * A session's state for one lock, as a state machine: a transition takes an event, changes the
 * state, and returns the effects that {@code LockQueueManager} executes. It does no I/O, reads no
 * clock and makes no callbacks. A lock that is merely held has none. Guarded by its session.
 *
 * <p><b>Requests</b> are executed one after the other. A creation, a look at the queue or a removal
 * belongs to the current request; the next one begins when that is answered. Ends of other attempts
 * may overtake them, and one read answers the polls of many waiters in a long queue (ADR 64).
 *
 * <p><b>Parts.</b> {@link LockRequests} is the state that all parts share. {@link QueueScan}
 * determines which attempt holds, {@link PollBatch} answers polls, {@link NodePlacement} evaluates
 * a new node, {@link AttemptRecovery} settles doubt. They depend on each other in this order only,
 * and this class on all of them: it begins requests, and has one method for each transition.
 *
 * <p><b>Doubt.</b> After a lost answer an attempt may or may not have a node. The whole queue is
 * then read over the next connection, and requests wait for that.
 */
public final class LockQueueState {
  /** The largest queue that is listed without need. */
  public static final int SHORT = QueueScan.SHORT;

  private final LockRequests requests;
  private final QueueScan queueScan;
  private final PollBatch pollBatch;
  private final NodePlacement nodePlacement;
  private final AttemptRecovery attemptRecovery;
  private final SoleUserCache soleUserCache;

  /** Attempts whose removals are in flight, and who asked; they do not delay other requests. */
  private final Map<ZooKeeperAttempt, List<PendingRequest>> ending = new LinkedHashMap<>();

  public LockQueueState(
      SessionFacts session,
      SessionAttempts attempts,
      SoleUserCache soleUserCache,
      LockName name,
      String path) {
    this.requests = new LockRequests(session, attempts, name, path);
    this.queueScan = new QueueScan(requests);
    this.pollBatch = new PollBatch(requests, queueScan);
    this.nodePlacement = new NodePlacement(requests, soleUserCache, queueScan);
    this.attemptRecovery = new AttemptRecovery(requests, queueScan);
    this.soleUserCache = soleUserCache;
  }

  public LockName name() {
    return requests.name;
  }

  /** The path of the lock's container. */
  public String path() {
    return requests.path;
  }

  /** The path of an attempt's node. */
  public String node(ZooKeeperAttempt attempt) {
    return requests.node(attempt);
  }

  /** Whether there is no work and no waiter. */
  public boolean isIdle() {
    return requests.current == null
        && requests.pending.isEmpty()
        && pollBatch.unsent().isEmpty()
        && pollBatch.sent().isEmpty()
        && ending.isEmpty()
        && requests.waiting.isEmpty()
        && requests.marking.isEmpty()
        && !queueScan.isLooking()
        && !attemptRecovery.isRecovering();
  }

  /** Whether an attempt of the session waits. */
  public boolean hasWaiters() {
    return !requests.waiting.isEmpty();
  }

  /** The number of the session's last waiter, if there is one. */
  public OptionalInt lastWaiting() {
    return requests.waiting.values().stream()
        .mapToInt(attempt -> attempt.seq)
        .reduce((one, other) -> one - other > 0 ? one : other);
  }

  private List<PendingRequest> allEnding() {
    List<PendingRequest> found = new ArrayList<>();
    ending.values().forEach(found::addAll);
    return found;
  }

  /** All requests without an answer. */
  public List<PendingRequest> unanswered() {
    List<PendingRequest> found = allEnding();
    if (requests.current != null) {
      found.add(requests.current);
    }
    found.addAll(pollBatch.sent());
    found.addAll(pollBatch.unsent());
    found.addAll(requests.pending);
    found.addAll(requests.owed());
    return found;
  }

  /** Begins the requests that can begin, and returns the collected effects. */
  private List<QueueEffect> effects() {
    advance();
    if (requests.waiting.isEmpty()) {
      requests.endedSessions.clear();
    }
    List<QueueEffect> due = List.copyOf(requests.effects);
    requests.effects.clear();
    return due;
  }

  // ---- Requests ----

  /** The engine submits a request for this lock. */
  public List<QueueEffect> onSubmit(PendingRequest request) {
    if (request.isAbandon() && mayPass(request)) {
      start(request);
    } else if (request.isAcquire() && isPolledAside(request)) {
      pollBatch.add(request);
    } else {
      requests.pending.add(request);
    }
    return effects();
  }

  /**
   * Whether an end may overtake requests of other attempts at the same lock: thousands of them must
   * not delay a release. An end takes nothing from another attempt.
   */
  private boolean mayPass(PendingRequest request) {
    ZooKeeperAttempt known = requests.attempts.find(request.attempt(), requests.name);
    return known != null
        && (known.state() == NodeState.HELD || known.state() == NodeState.WAITING)
        && requests.current != null
        && !attemptRecovery.isRecovering()
        && !requests.concerns(request.attempt());
  }

  /**
   * Whether a poll may be answered by a shared read: thousands of local waiters would delay
   * newcomers without a node.
   */
  private boolean isPolledAside(PendingRequest request) {
    ZooKeeperAttempt known = requests.attempts.find(request.attempt(), requests.name);
    return known != null
        && known.state() == NodeState.WAITING
        && known.queues
        && !known.leaving
        && requests.waiting.size() > QueueScan.SHORT
        && requests.session.isUp();
  }

  /** Begins the requests that can begin. */
  private void advance() {
    while (requests.current == null
        && !attemptRecovery.isRecovering()
        && !requests.pending.isEmpty()) {
      start(requests.pending.remove());
    }
  }

  private void start(PendingRequest request) {
    ZooKeeperAttempt known = requests.attempts.find(request.attempt(), requests.name);
    if (request.request instanceof Request.Adjust adjust) {
      requests.adjust(request, adjust, known);
    } else if (known != null && known.state() == NodeState.DOUBT && requests.session.isUp()) {
      known.leaving |= request.isAbandon();
      requests.pending.addFirst(request);
      attemptRecovery.recover();
    } else if (request.request instanceof Request.Acquire acquire) {
      acquire(request, acquire, known);
    } else if (known != null) {
      abandon(request, known);
    } else if (requests.attempts.isOurs(request.attempt())) {
      requests.answer(request, requests.attempts.absent(request.attempt(), requests.name));
    } else {
      requests.current = request;
      requests.effects.add(new EndForeign(request));
    }
  }

  /** An attempt of another session has ended; or could not be ended, if there is no answer. */
  public List<QueueEffect> onForeignEnded(PendingRequest request, Reply.@Nullable Ended ended) {
    if (ended != null) {
      requests.answer(request, ended);
    } else {
      requests.fail(request, true, "the connection was lost.");
    }
    requests.finish();
    return effects();
  }

  /** Time has passed: requests that have waited for longer are failed. */
  public List<QueueEffect> onTime(long now, long requestTimeout) {
    List<PendingRequest> sent = allEnding();
    if (requests.current != null) {
      sent.add(requests.current);
    }
    sent.addAll(pollBatch.sent());
    sent.addAll(requests.owed());
    for (PendingRequest request : sent) {
      if (now - request.since > requestTimeout) {
        requests.fail(request, true, "no answer in time.");
      }
    }
    for (ArrayDeque<PendingRequest> unsent : List.of(requests.pending, pollBatch.unsent())) {
      for (PendingRequest request : unsent) {
        if (now - request.since > requestTimeout) {
          requests.fail(request, false, "no answer in time.");
        }
      }
      unsent.removeIf(PendingRequest::isAnswered);
    }
    return effects();
  }

  // ---- Acquiring ----

  private void acquire(
      PendingRequest request, Request.Acquire acquire, @Nullable ZooKeeperAttempt known) {
    if (!requests.session.isUp()) {
      requests.fail(request, known != null, "the connection is down.");
    } else if (known != null && (known.leaving || requests.attempts.isEvicted(known))) {
      requests.answer(request, requests.attempts.refusal(request.attempt(), requests.name));
    } else if (known != null) {
      requests.current = request;
      known.queues |= acquire.queue();
      requests.effects.add(
          new ReadNodes(
              new ReadPurpose.Polling(request, known), List.of(requests.path, node(known))));
    } else if (requests.attempts.hasEnded(request.attempt(), requests.name)) {
      requests.answer(request, requests.attempts.refusal(request.attempt(), requests.name));
    } else {
      ZooKeeperAttempt attempt =
          new ZooKeeperAttempt(
              request.attempt().number(), requests.name, acquire.mode(), acquire.tokens());
      attempt.queues = acquire.queue();
      Duration atLeast = acquire.terms().atLeast();
      if (atLeast != null) {
        requests.attempts.startAtLeast(attempt, atLeast);
      }
      requests.attempts.add(attempt);
      requests.current = request;
      String data =
          NodeData.attempt(
              request.attempt(), requests.session.spec().ttl(), acquire.terms().label());
      // The session's next hold may reuse the node only if no other attempt wants the lock.
      requests.effects.add(
          new CreateNode(
              request,
              attempt,
              data,
              requests.waiting.isEmpty() && attempt.isExclusive() && atLeast == null));
    }
  }

  /** The current request's attempt has got its node, or could not. */
  public List<QueueEffect> onCreated(CreateNode creation, CreateResult result) {
    nodePlacement.created(creation, result);
    return effects();
  }

  // ---- Ending ----

  private void abandon(PendingRequest request, ZooKeeperAttempt attempt) {
    List<PendingRequest> earlier = ending.get(attempt);
    if (earlier != null) {
      // The engine repeats it, or asks for what the session does about an eviction.
      earlier.add(request);
      return;
    }
    if (attempt.leaving) {
      requests.fail(request, true, "the end is on its way.");
      return;
    }
    attempt.leaving = true;
    if (attempt.state() == NodeState.DOUBT) {
      requests.fail(request, true, "the connection is down.");
      return;
    }
    requests.leaveQueue(attempt);
    ending.put(attempt, new ArrayList<>(List.of(request)));
    boolean isAlone = requests.attempts.weight(attempt) == attempt.capacity();
    if (requests.leavesShut(attempt) && !isAlone) {
      requests.effects.add(new ListHolders(attempt, urgency(request, attempt)));
    } else {
      remove(attempt, urgency(request, attempt), attempt.seq);
    }
  }

  private void remove(ZooKeeperAttempt attempt, Urgency urgency, int last) {
    requests.effects.add(
        new RemoveNode(
            attempt, urgency, new RemovalCause.AttemptEnded(), requests.atEnd(attempt, last)));
  }

  /** The queue was listed before a hold with an at-least time ends; or could not be. */
  public List<QueueEffect> onHoldersListed(ListHolders list, @Nullable List<String> children) {
    ZooKeeperAttempt attempt = list.attempt();
    LockQueue queue = LockQueue.of(children == null ? List.of() : children, attempt.capacity());
    int holding = queue.holding();
    remove(attempt, list.urgency(), holding == 0 ? attempt.seq : queue.place(holding - 1).seq());
    return effects();
  }

  private Urgency urgency(PendingRequest request, ZooKeeperAttempt attempt) {
    boolean exclusive = isExclusive(attempt) && attempt.wasHeld();
    if (exclusive && attempt.isWanted()) {
      // The next of many waiters learns by the mark that this one held; one of a few lists the
      // queue.
      return attempt.hasLongQueue() ? Urgency.MARKED_HANDOFF : Urgency.HANDOFF;
    } else if (!request.later) {
      return Urgency.NEXT;
    } else if (attempt.state() == NodeState.HELD && isExclusive(attempt)) {
      return Urgency.LATER_OR_TAKEN_OVER;
    }
    return Urgency.LATER;
  }

  /** Whether the session's next hold may follow directly on this one. */
  private boolean isExclusive(ZooKeeperAttempt attempt) {
    return attempt.isExclusive()
        && !requests.attempts.isNarrowed(attempt)
        && requests.attempts.atLeast(attempt) == null;
  }

  /**
   * The node of an attempt was removed, or could not be.
   *
   * @param takenOver whether it stays, as the node of the session's next attempt
   */
  public List<QueueEffect> onRemoved(RemoveNode removal, Code code, boolean takenOver) {
    ZooKeeperAttempt attempt = removal.attempt();
    boolean gone = code == Code.OK || code == Code.NONODE;
    if (removal.cause() instanceof RemovalCause.AttemptEnded) {
      ended(attempt, code, takenOver);
    } else if (removal.cause() instanceof RemovalCause.Leftover && gone) {
      requests.end(attempt, attempt.ifReleased());
    } else if (removal.cause() instanceof RemovalCause.Leftover) {
      attempt.state(NodeState.DOUBT);
    } else if (removal.cause() instanceof RemovalCause.Withdrawn withdrawn) {
      if (gone) {
        requests.attempts.discard(attempt);
      } else {
        attempt.state(NodeState.DOUBT);
      }
      withdrawn(withdrawn.request(), attempt, withdrawn.reason());
    }
    return effects();
  }

  private void ended(ZooKeeperAttempt attempt, Code code, boolean takenOver) {
    if (code == Code.SESSIONEXPIRED) {
      requests.effects.add(new EndSession("the ZooKeeper session expired"));
      return;
    }
    List<PendingRequest> asked = Objects.requireNonNull(ending.remove(attempt));
    if (code == Code.OK) {
      boolean exclusive = isExclusive(attempt);
      requests.end(attempt, attempt.ifReleased());
      if (!takenOver && exclusive) {
        soleUserCache.left(requests.path, attempt);
      }
    } else if (code == Code.NONODE) {
      requests.end(attempt, attempt.ifGone());
    } else {
      attempt.state(NodeState.DOUBT);
      asked.forEach(request -> requests.fail(request, true, "the connection was lost."));
      return;
    }
    Reply.Ended absent = requests.attempts.absent(requests.attempts.id(attempt), requests.name);
    asked.forEach(request -> requests.answer(request, absent));
  }

  private void withdrawn(
      PendingRequest request, ZooKeeperAttempt attempt, WithdrawalReason reason) {
    if (reason instanceof WithdrawalReason.NumbersUsedUp) {
      // No newcomer is admitted. Once all others have gone, the container can be removed, and the
      // next one numbers from 0.
      requests.effects.add(new RemoveContainer());
      requests.fail(
          request,
          false,
          "the sequence numbers of lock '"
              + requests.name
              + "' begin anew as soon as those who hold it or wait have left.");
    } else if (reason instanceof WithdrawalReason.CapacityDiffers differs) {
      requests.answer(
          request,
          Refusals.capacityDiffers(
              request.attempt(), requests.name, differs.present(), attempt.capacity()));
    } else if (reason instanceof WithdrawalReason.HeldByOther busy) {
      requests.answer(request, new Reply.Busy(request.attempt(), busy.holder(), busy.retryAfter()));
    }
    requests.finish();
  }

  // ---- Narrowing ----

  /** The current request's attempt was marked to take less from now on, or could not be. */
  public List<QueueEffect> onNarrowed(NarrowNode narrowing, Code code) {
    requests.narrowed(narrowing, code);
    return effects();
  }

  // ---- At-least times ----

  /** The mark of an attempt's at-least time was made, or could not be. */
  public List<QueueEffect> onKeptShut(KeepShut keeping, Code code) {
    requests.keptShut(keeping, code);
    return effects();
  }

  /** Marks of at-least times were removed, or others have done so. */
  public List<QueueEffect> onOpened(OpenLock opening, Code code) {
    queueScan.opened(opening, code);
    return effects();
  }

  // ---- Looking ----

  /** The node before that of a waiter was read, and is watched if it exists. */
  public List<QueueEffect> onWatched(WatchNode watch, NodeContent nodeContent) {
    queueScan.watched(watch, nodeContent);
    return effects();
  }

  /** The first waiter's own node was read. */
  public List<QueueEffect> onOwnWatched(WatchOwnNode watch, NodeContent nodeContent) {
    queueScan.ownWatched(watch, nodeContent);
    return effects();
  }

  /** The queue was listed: two of its nodes are the holder's and the first waiter's. */
  public List<QueueEffect> onSuccessorsWatched(WatchSuccessors watch, int nodes) {
    queueScan.successorsWatched(watch, nodes);
    return effects();
  }

  /** Holders of other sessions have been told. */
  public List<QueueEffect> onNotesLeft(NotesPurpose purpose) {
    queueScan.goOn(purpose);
    return effects();
  }

  /** A node was added or removed. */
  public List<QueueEffect> onChildrenChanged() {
    queueScan.childrenChanged();
    return effects();
  }

  /** The node with this number was removed, or written to. */
  public List<QueueEffect> onNodeChanged(EventType type, int seq) {
    queueScan.nodeChanged(type, seq);
    return effects();
  }

  /** The session of these nodes has ended: none of its attempts holds or is granted any more. */
  public List<QueueEffect> onSessionEnded(SessionId session, Set<Integer> seqs) {
    boolean isNews = false;
    for (Integer seq : seqs) {
      isNews |= hasWaiters() && !session.equals(requests.endedSessions.put(seq, session));
    }
    if (isNews) {
      queueScan.look();
    }
    return effects();
  }

  /** The queue was listed and one node read, or there was no answer. */
  public List<QueueEffect> onQueueRead(
      ReadQueue read, @Nullable List<String> children, NodeContent own) {
    queueScan.queueRead(read, children, own);
    return effects();
  }

  /** The queue was listed, or could not be. */
  public List<QueueEffect> onListed(QueueLook look, Code code, @Nullable List<String> children) {
    queueScan.listed(look, code, children);
    return effects();
  }

  /** Nodes were read, or there was no answer. */
  public List<QueueEffect> onRead(ReadPurpose purpose, @Nullable List<NodeContent> nodeContents) {
    if (purpose instanceof ReadPurpose.Placing placing) {
      nodePlacement.placingRead(placing, nodeContents);
    } else if (purpose instanceof ReadPurpose.Polling polling) {
      pollBatch.polled(polling.request(), polling.attempt(), nodeContents);
    } else if (purpose instanceof ReadPurpose.PollingMany) {
      pollBatch.polledMany(nodeContents);
    } else if (purpose instanceof ReadPurpose.Narrowing narrowing) {
      requests.narrowingRead(narrowing, nodeContents);
    } else if (purpose instanceof ReadPurpose.Marking marking) {
      requests.markingRead(marking, nodeContents);
    } else if (purpose instanceof ReadPurpose.Confirming confirming) {
      queueScan.confirmingRead(confirming, nodeContents);
    } else if (purpose instanceof ReadPurpose.Looking looking) {
      if (nodeContents == null) {
        queueScan.failLook(looking.look());
      } else {
        queueScan.seen(looking.look(), nodeContents);
      }
    }
    return effects();
  }

  // ---- Connections ----

  /** Events are missed from now on, or come in another order. */
  public List<QueueEffect> onDisconnected() {
    queueScan.disconnected();
    return effects();
  }

  /**
   * Looks up attempts in doubt, and events that were missed.
   *
   * @param inDoubt whether there are such attempts
   */
  public List<QueueEffect> onReconnected(boolean inDoubt) {
    if (inDoubt) {
      attemptRecovery.recover();
    }
    requests.markAgain();
    if (!requests.waiting.isEmpty()) {
      queueScan.look();
    }
    return effects();
  }

  /** A recovery that got no answer is due again. */
  public List<QueueEffect> onRecoveryDue() {
    if (requests.session.isUp() && !requests.attempts.inDoubt(requests.name).isEmpty()) {
      attemptRecovery.recover();
    }
    return effects();
  }

  /** The whole queue was read, or there was no answer. */
  public List<QueueEffect> onIndexRead(@Nullable AttemptIndex found) {
    attemptRecovery.indexRead(found);
    return effects();
  }
}
