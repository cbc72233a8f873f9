package io.mortise.zookeeper.internal.queue;

import io.mortise.zookeeper.internal.node.AttemptIndex;
import io.mortise.zookeeper.internal.node.LockQueue;
import io.mortise.zookeeper.internal.node.NodeData;
import io.mortise.zookeeper.internal.node.NodeLayout;
import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.internal.storekit.Refusals;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Reply.RefusalReason;
import io.mortise.spi.Request;
import io.mortise.spi.SessionNotification;
import io.mortise.zookeeper.internal.node.EndedAttempts.AttemptEnd;
import io.mortise.zookeeper.internal.node.MultiRead.NodeContent;
import io.mortise.zookeeper.internal.queue.QueueEffect.Answer;
import io.mortise.zookeeper.internal.queue.QueueEffect.Arrival;
import io.mortise.zookeeper.internal.queue.QueueEffect.CreateNode;
import io.mortise.zookeeper.internal.queue.QueueEffect.EndForeign;
import io.mortise.zookeeper.internal.queue.QueueEffect.EndSession;
import io.mortise.zookeeper.internal.queue.QueueEffect.ForgetNotifications;
import io.mortise.zookeeper.internal.queue.QueueEffect.LeaveNotes;
import io.mortise.zookeeper.internal.queue.QueueEffect.ListNodes;
import io.mortise.zookeeper.internal.queue.QueueEffect.NotesPurpose;
import io.mortise.zookeeper.internal.queue.QueueEffect.ReadIndex;
import io.mortise.zookeeper.internal.queue.QueueEffect.ReadNodes;
import io.mortise.zookeeper.internal.queue.QueueEffect.ReadPurpose;
import io.mortise.zookeeper.internal.queue.QueueEffect.ReadQueue;
import io.mortise.zookeeper.internal.queue.QueueEffect.RecoverLater;
import io.mortise.zookeeper.internal.queue.QueueEffect.RemovalCause;
import io.mortise.zookeeper.internal.queue.QueueEffect.RemoveContainer;
import io.mortise.zookeeper.internal.queue.QueueEffect.RemoveNode;
import io.mortise.zookeeper.internal.queue.QueueEffect.RewriteNode;
import io.mortise.zookeeper.internal.queue.QueueEffect.Tell;
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
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * What is going on in a session about one lock, as a machine: a transition takes in what has
 * happened, changes the state, and returns the effects that {@code LockQueueManager} executes. It
 * does no I/O, reads no clock and calls nobody. There is none for a lock that is merely held.
 * Guarded by its session.
 *
 * <p><b>Requests</b> are executed one after the other. A creation, a look at the queue or a removal
 * belongs to the current request; the next one begins when that is answered. Ends of other attempts
 * go before, and polls of waiters in a long queue are answered many by one read (ADR 64).
 *
 * <p><b>In a short queue</b> the children are listed: two reads, and the answer can say which
 * attempt holds. The second of two reads and watches the number before its own only: that one
 * holds.
 *
 * <p><b>In a long queue</b> nobody lists. Sequence numbers have no gaps when they are given, so a
 * newcomer watches the number before its own. If that node is gone already, the newcomer lists
 * once. A holder that knows of many waiters marks its node in the transaction that removes it. The
 * next waiter hears of the mark instead of the removal, and knows that it is the first. So a
 * hand-off costs one small read, however many wait. A waiter that hears of a removal without a mark
 * lists once, and watches the next node before its own.
 *
 * <p><b>Nothing is believed</b> before the attempt's own node was read: it must be there, and be
 * owned by this very session. The first waiter knows that the node before its own holds. It reads
 * and watches its own node at once, so it holds as soon as it hears that the holder's node has
 * gone: it would have heard before if its own had.
 *
 * <p><b>Doubt.</b> After a lost answer an attempt may or may not have a node. The whole queue is
 * then read over the next connection, and requests wait for that.
 */
public final class LockQueueState {
  /** Queues of up to so many nodes are listed by a newcomer. */
  public static final int SHORT = 64;

  /** So many holders are read, and told that they are wanted. */
  private static final int MOST_HEADS = 64;

  /** Up to so many polls are answered by one read. */
  private static final int MOST_POLLS = 256;

  private final SessionFacts session;
  private final SessionAttempts attempts;
  private final SoleUserCache soleUserCache;
  private final LockName name;
  private final String path;
  private final WatchTable watches = new WatchTable();

  /** Attempts of this session that wait, by number. */
  private final Map<Long, ZooKeeperAttempt> waiting = new LinkedHashMap<>();

  private final ArrayDeque<PendingRequest> pending = new ArrayDeque<>();

  /** The request whose answer is being found; the next begins after it. */
  private @Nullable PendingRequest current;

  /** The current request, if the next look that begins is to answer it. */
  private @Nullable PendingRequest requester;

  /** Polls of attempts that wait in a long queue, for the next read of their nodes. */
  private final ArrayDeque<PendingRequest> polls = new ArrayDeque<>();

  /** The polls whose nodes are being read. */
  private List<PendingRequest> polled = List.of();

  /** Ends whose removals are in flight; they hold up no other request. */
  private final Set<PendingRequest> ending = new LinkedHashSet<>();

  private final List<QueueEffect> effects = new ArrayList<>();
  private boolean looking;
  private boolean lookAgain;

  /** Whether every change of the queue is told: for permits, any may be the first waiter's turn. */
  private boolean watchesAll;

  private boolean recovering;

  /** Counts connections: a watch tells what happens for as long as its own one stands. */
  private int connection;

  public LockQueueState(
      SessionFacts session,
      SessionAttempts attempts,
      SoleUserCache soleUserCache,
      LockName name,
      String path) {
    this.session = session;
    this.attempts = attempts;
    this.soleUserCache = soleUserCache;
    this.name = name;
    this.path = path;
  }

  public LockName name() {
    return name;
  }

  /** The path of the lock's container. */
  public String path() {
    return path;
  }

  /** The path of an attempt's node. */
  public String node(ZooKeeperAttempt attempt) {
    return path + "/" + attempt.node();
  }

  /** Whether nothing is left to be done, and nobody waits. */
  public boolean isIdle() {
    return current == null
        && pending.isEmpty()
        && polls.isEmpty()
        && polled.isEmpty()
        && ending.isEmpty()
        && waiting.isEmpty()
        && !looking
        && !recovering;
  }

  /** All requests that have no answer. */
  public List<PendingRequest> unanswered() {
    List<PendingRequest> found = new ArrayList<>(ending);
    if (current != null) {
      found.add(current);
    }
    found.addAll(polled);
    found.addAll(polls);
    found.addAll(pending);
    return found;
  }

  private List<QueueEffect> effects() {
    List<QueueEffect> due = List.copyOf(effects);
    effects.clear();
    return due;
  }

  // ---- Requests ----

  /** The engine asks something about this lock. */
  public List<QueueEffect> onSubmit(PendingRequest request) {
    if (request.isAbandon() && mayPass(request)) {
      start(request);
    } else if (request.isAcquire() && isPolledAside(request)) {
      polls.add(request);
      pollMany();
    } else {
      pending.add(request);
    }
    advance();
    return effects();
  }

  /**
   * Whether an end may go before requests of other attempts at the same lock: thousands of them
   * must not keep a holder from releasing it. An end takes nothing from another attempt.
   */
  private boolean mayPass(PendingRequest request) {
    ZooKeeperAttempt known = attempts.find(request.attempt(), name);
    return known != null
        && (known.state() == NodeState.HELD || known.state() == NodeState.WAITING)
        && current != null
        && !recovering
        && !concerns(request.attempt());
  }

  /** Whether a request of this attempt is being answered, or waits for that. */
  private boolean concerns(AttemptId attempt) {
    return (current != null && current.attempt().equals(attempt))
        || pending.stream().anyMatch(request -> request.attempt().equals(attempt));
  }

  /**
   * Whether a poll may be answered by a read that many share: thousands of waiters of one process
   * would hold up newcomers without a node.
   */
  private boolean isPolledAside(PendingRequest request) {
    ZooKeeperAttempt known = attempts.find(request.attempt(), name);
    return known != null
        && known.state() == NodeState.WAITING
        && known.queues
        && !known.leaving
        && waiting.size() > SHORT
        && session.isUp();
  }

  /** Begins the requests that can begin. */
  private void advance() {
    while (current == null && !recovering && !pending.isEmpty()) {
      start(pending.remove());
    }
  }

  /** The current request is answered. */
  private void finish() {
    current = null;
    advance();
  }

  private void start(PendingRequest request) {
    ZooKeeperAttempt known = attempts.find(request.attempt(), name);
    if (request.request instanceof Request.Adjust adjust) {
      adjust(request, adjust, known);
    } else if (known != null && known.state() == NodeState.DOUBT && session.isUp()) {
      known.leaving |= request.isAbandon();
      pending.addFirst(request);
      recover();
    } else if (request.request instanceof Request.Acquire acquire) {
      acquire(request, acquire, known);
    } else if (known != null) {
      abandon(request, known);
    } else if (attempts.isOurs(request.attempt())) {
      answer(request, attempts.absent(request.attempt(), name));
    } else {
      current = request;
      effects.add(new EndForeign(request));
    }
  }

  /** An attempt of another session has ended; or could not be ended, if there is no answer. */
  public List<QueueEffect> onForeignEnded(PendingRequest request, Reply.@Nullable Ended ended) {
    if (ended != null) {
      answer(request, ended);
    } else {
      fail(request, true, "the connection was lost.");
    }
    finish();
    return effects();
  }

  private void answer(PendingRequest request, Reply reply) {
    if (request.markAnswered()) {
      effects.add(new Answer(request, reply));
    }
  }

  private void fail(PendingRequest request, boolean mayHaveRun, String why) {
    answer(request, unanswered(session, request.attempt(), mayHaveRun, why));
  }

  /** The answer to a request that the server has not answered. */
  public static Reply.Failed unanswered(
      SessionFacts session, AttemptId attempt, boolean mayHaveRun, String why) {
    return new Reply.Failed(
        attempt,
        mayHaveRun,
        new StoreUnavailableException(
            "ZooKeeper did not answer (store=" + session.display() + "): " + why));
  }

  /** The node of the attempt was neither deleted by its session nor has the session ended. */
  private void refuseAsRemoved(PendingRequest request) {
    answer(
        request,
        new Reply.Refused(
            request.attempt(), RefusalReason.ENDED, "Somebody removed the attempt's node."));
  }

  /** Time has passed: requests that have waited for longer are told that there was no answer. */
  public List<QueueEffect> onTime(long now, long requestTimeout) {
    List<PendingRequest> sent = new ArrayList<>(ending);
    if (current != null) {
      sent.add(current);
    }
    sent.addAll(polled);
    for (PendingRequest request : sent) {
      if (now - request.since > requestTimeout) {
        fail(request, true, "no answer in time.");
      }
    }
    for (ArrayDeque<PendingRequest> unsent : List.of(pending, polls)) {
      for (PendingRequest request : unsent) {
        if (now - request.since > requestTimeout) {
          fail(request, false, "no answer in time.");
        }
      }
      unsent.removeIf(PendingRequest::isAnswered);
    }
    return effects();
  }

  // ---- Acquiring ----

  private void acquire(
      PendingRequest request, Request.Acquire acquire, @Nullable ZooKeeperAttempt known) {
    if (!session.isUp()) {
      fail(request, known != null, "the connection is down.");
    } else if (known != null && known.leaving) {
      answer(request, Refusals.ended(request.attempt()));
    } else if (known != null) {
      current = request;
      known.queues |= acquire.queue();
      effects.add(
          new ReadNodes(new ReadPurpose.Polling(request, known), List.of(path, node(known))));
    } else if (attempts.hasEnded(request.attempt(), name)) {
      answer(request, Refusals.ended(request.attempt()));
    } else {
      ZooKeeperAttempt attempt =
          new ZooKeeperAttempt(request.attempt().number(), name, acquire.mode(), acquire.tokens());
      attempt.queues = acquire.queue();
      attempts.add(attempt);
      current = request;
      String data =
          NodeData.attempt(request.attempt(), session.spec().ttl(), acquire.terms().label());
      // Nobody else is to want the lock if its next hold follows as if it had been passed on.
      effects.add(
          new CreateNode(request, attempt, data, waiting.isEmpty() && attempt.isExclusive()));
    }
  }

  /** The current request's attempt has got its node, or not. */
  public List<QueueEffect> onCreated(CreateNode creation, CreateResult result) {
    PendingRequest request = creation.request();
    ZooKeeperAttempt attempt = creation.attempt();
    if (result instanceof CreateResult.NotMade refused) {
      notCreated(request, attempt, refused.code());
    } else if (result instanceof CreateResult.TakenOver takenOver) {
      ZooKeeperAttempt previous = takenOver.previous();
      attempt.seq = previous.seq;
      // A note may have come for the one before, meanwhile.
      hold(attempt, previous.rank(), previous.isWanted() ? 1 : 0);
      answer(request, granted(attempt));
      finish();
    } else if (result instanceof CreateResult.NodeMade made) {
      attempt.seq = LockQueue.QueueNode.parse(NodeLayout.last(made.path())).seq();
      soleUserCache.came(path, attempt);
      if (LockQueue.isLast(attempt.seq)) {
        withdraw(request, attempt, new WithdrawalReason.NumbersUsedUp());
      } else {
        place(request, attempt, made);
      }
    }
    return effects();
  }

  private void place(PendingRequest request, ZooKeeperAttempt attempt, CreateResult.NodeMade made) {
    if (made instanceof CreateResult.ContainerNotRead unread) {
      followSoleUse(request, attempt, unread);
    } else if (made instanceof CreateResult.OnlyNode only) {
      if (only.capacity() != attempt.capacity()) {
        withdraw(request, attempt, new WithdrawalReason.CapacityDiffers(only.capacity()));
      } else {
        grant(attempt, only.czxid(), 0);
        answer(request, granted(attempt));
        finish();
      }
    } else if (made instanceof CreateResult.AmongOthers among) {
      if (among.capacity() != attempt.capacity()) {
        withdraw(request, attempt, new WithdrawalReason.CapacityDiffers(among.capacity()));
      } else {
        attempt.state(NodeState.WAITING);
        waiting.put(attempt.number, attempt);
        arrive(new Arrival(request, attempt, among.children()));
      }
    } else {
      // The node is there, and it is not known what else is.
      attempt.state(NodeState.DOUBT);
      fail(request, true, "the connection was lost.");
      finish();
    }
  }

  /** The node holds if it is the next one after this session's last hold, with none between. */
  private void followSoleUse(
      PendingRequest request, ZooKeeperAttempt attempt, CreateResult.ContainerNotRead unread) {
    SoleUserCache.LastHold lastHold = soleUserCache.before(path, attempt);
    if (lastHold == null) {
      effects.add(
          new ReadNodes(
              new ReadPurpose.Placing(request, attempt, unread.path()),
              List.of(path, node(attempt))));
      return;
    }
    if (unread.czxid().isPresent()) {
      grant(attempt, unread.czxid().getAsLong(), 0);
    } else {
      attempt.startAt(lastHold.next());
      hold(attempt, lastHold.rank(), 0);
    }
    answer(request, granted(attempt));
    finish();
  }

  private void placingRead(ReadPurpose.Placing placing, @Nullable List<NodeContent> nodeContents) {
    PendingRequest request = placing.request();
    ZooKeeperAttempt attempt = placing.attempt();
    Stat container = nodeContents == null ? null : nodeContents.get(0).stat();
    if (nodeContents == null || container == null) {
      place(request, attempt, new CreateResult.ContainerUnknown(placing.path()));
      return;
    }
    Stat own = nodeContents.get(1).stat();
    if (own == null || !isOurs(nodeContents.get(1), attempt)) {
      forget(attempt);
      refuseAsRemoved(request);
      finish();
      return;
    }
    int capacity = NodeData.capacity(nodeContents.get(0).data());
    int children = container.getNumChildren();
    place(
        request,
        attempt,
        children == 1
            ? new CreateResult.OnlyNode(placing.path(), capacity, own.getCzxid())
            : new CreateResult.AmongOthers(placing.path(), capacity, children));
  }

  private void notCreated(PendingRequest request, ZooKeeperAttempt attempt, Code code) {
    switch (code) {
      case CONNECTIONLOSS, OPERATIONTIMEOUT, SESSIONMOVED -> {
        attempt.state(NodeState.DOUBT);
        fail(request, true, "the connection was lost.");
        finish();
      }
      case SESSIONEXPIRED -> effects.add(new EndSession("the ZooKeeper session expired"));
      default -> {
        attempts.discard(attempt);
        answer(
            request,
            new Reply.Failed(
                request.attempt(),
                false,
                new StoreUnfitException(
                    "Store '%s' does not let us make a node for lock '%s': %s."
                        .formatted(session.display(), name, code))));
        finish();
      }
    }
  }

  private void adjust(
      PendingRequest request, Request.Adjust adjust, @Nullable ZooKeeperAttempt known) {
    AttemptId attempt = adjust.attempt();
    if (known == null || known.state() != NodeState.HELD || known.leaving) {
      answer(request, Refusals.notHeld(attempt, name));
    } else if (known.capacity() != adjust.mode().capacity()) {
      answer(
          request,
          Refusals.capacityDiffers(attempt, name, known.capacity(), adjust.mode().capacity()));
    } else if (adjust.mode().weight() > known.weight()) {
      answer(request, Refusals.cannotWiden(attempt, name));
    } else if (adjust.tokens() > 0 && known.next() >= ZooKeeperAttempt.TOKENS) {
      answer(
          request,
          new Reply.Refused(
              attempt,
              RefusalReason.NOT_HELD,
              "The hold on lock '" + name + "' has used up its tokens: acquire it anew."));
    } else {
      if (adjust.tokens() > 0) {
        int next = known.next();
        known.startAt(next);
        known.tokens = Math.min(adjust.tokens(), ZooKeeperAttempt.TOKENS - next);
      }
      answer(request, granted(known));
    }
  }

  // ---- Holding ----

  /** The attempt holds, by the node that this transaction created. */
  private void grant(ZooKeeperAttempt attempt, long czxid, int waiters) {
    hold(attempt, session.tokenRank(czxid), waiters);
  }

  /** The attempt holds from now on. The engine is not told by this. */
  private void hold(ZooKeeperAttempt attempt, long rank, int waiters) {
    leaveQueue(attempt);
    attempt.granted(rank);
    if (waiters > SHORT) {
      attempt.wantedByMany();
    } else if (waiters > 0) {
      attempt.wanted();
    }
  }

  private Reply.Granted granted(ZooKeeperAttempt attempt) {
    return new Reply.Granted(
        attempts.id(attempt), attempt.token(), attempt.tokens, attempt.isWanted(), null);
  }

  /** A request in flight gets an answer, all others a notification. */
  private void announce(ZooKeeperAttempt attempt) {
    AttemptId id = attempts.id(attempt);
    PendingRequest request = current;
    if (request != null
        && request.isAcquire()
        && !request.isAnswered()
        && request.attempt().equals(id)) {
      answer(request, granted(attempt));
    } else {
      effects.add(
          new Tell(
              new SessionNotification.Granted(
                  name, id, attempt.token(), attempt.tokens, attempt.isWanted(), false)));
    }
  }

  private void leaveQueue(ZooKeeperAttempt attempt) {
    waiting.remove(attempt.number);
    watches.leaves(attempt);
  }

  /** Another client removed the node; the current request says so. */
  private void forget(ZooKeeperAttempt attempt) {
    leaveQueue(attempt);
    end(attempt, attempt.ifGone());
  }

  /** Another client removed the node. */
  private void vanish(ZooKeeperAttempt attempt) {
    forget(attempt);
    effects.add(
        new Tell(new SessionNotification.HoldEnded(name, attempts.id(attempt), EndReason.UNKNOWN)));
  }

  private void end(ZooKeeperAttempt attempt, AttemptEnd attemptEnd) {
    attempts.end(attempt, attemptEnd);
    effects.add(new ForgetNotifications(attempts.id(attempt)));
  }

  /** Whether a node is that of an attempt of this very session. */
  private boolean isOurs(NodeContent nodeContent, ZooKeeperAttempt attempt) {
    Stat stat = nodeContent.stat();
    NodeData.AttemptData attemptData = NodeData.attempt(nodeContent.data());
    return stat != null
        && attemptData != null
        && stat.getEphemeralOwner() == session.zooKeeperSession()
        && attemptData.attempt().equals(attempts.id(attempt));
  }

  // ---- Ending ----

  private void abandon(PendingRequest request, ZooKeeperAttempt attempt) {
    if (attempt.leaving) {
      fail(request, true, "the end is on its way.");
      return;
    }
    attempt.leaving = true;
    if (attempt.state() == NodeState.DOUBT) {
      fail(request, true, "the connection is down.");
      return;
    }
    leaveQueue(attempt);
    ending.add(request);
    effects.add(
        new RemoveNode(attempt, urgency(request, attempt), new RemovalCause.Ended(request)));
  }

  private static Urgency urgency(PendingRequest request, ZooKeeperAttempt attempt) {
    boolean exclusive = attempt.wasHeld() && attempt.isExclusive();
    if (exclusive && attempt.isWanted()) {
      // The next of many waiters knows that this one held; one of a few lists them.
      return attempt.hasLongQueue() ? Urgency.MARKED_HANDOFF : Urgency.HANDOFF;
    } else if (!request.later) {
      return Urgency.NEXT;
    } else if (attempt.state() == NodeState.HELD && attempt.isExclusive()) {
      return Urgency.LATER_OR_TAKEN_OVER;
    }
    return Urgency.LATER;
  }

  /**
   * The node of an attempt was removed, or could not be.
   *
   * @param takenOver whether it stays, as the node of the session's next attempt
   */
  public List<QueueEffect> onRemoved(RemoveNode removal, Code code, boolean takenOver) {
    ZooKeeperAttempt attempt = removal.attempt();
    boolean gone = code == Code.OK || code == Code.NONODE;
    if (removal.cause() instanceof RemovalCause.Ended ended) {
      ended(ended.request(), attempt, code, takenOver);
    } else if (removal.cause() instanceof RemovalCause.Leftover && gone) {
      end(attempt, attempt.ifReleased());
    } else if (removal.cause() instanceof RemovalCause.Leftover) {
      attempt.state(NodeState.DOUBT);
    } else if (removal.cause() instanceof RemovalCause.Withdrawn withdrawn) {
      if (gone) {
        attempts.discard(attempt);
      } else {
        attempt.state(NodeState.DOUBT);
      }
      withdrawn(withdrawn.request(), attempt, withdrawn.reason());
    }
    return effects();
  }

  private void ended(
      PendingRequest request, ZooKeeperAttempt attempt, Code code, boolean takenOver) {
    if (code == Code.SESSIONEXPIRED) {
      effects.add(new EndSession("the ZooKeeper session expired"));
      return;
    }
    ending.remove(request);
    if (code == Code.OK) {
      end(attempt, attempt.ifReleased());
      if (!takenOver) {
        soleUserCache.left(path, attempt);
      }
    } else if (code == Code.NONODE) {
      end(attempt, attempt.ifGone());
    } else {
      attempt.state(NodeState.DOUBT);
      fail(request, true, "the connection was lost.");
      return;
    }
    answer(request, attempts.absent(request.attempt(), name));
  }

  /** Removes the node of the current request's attempt, as if it had never been. */
  private void withdraw(PendingRequest request, ZooKeeperAttempt attempt, WithdrawalReason reason) {
    leaveQueue(attempt);
    attempt.leaving = true;
    effects.add(new RemoveNode(attempt, Urgency.NEXT, new RemovalCause.Withdrawn(request, reason)));
  }

  private void withdrawn(
      PendingRequest request, ZooKeeperAttempt attempt, WithdrawalReason reason) {
    if (reason instanceof WithdrawalReason.NumbersUsedUp) {
      // No newcomer is let in. Once all others have gone, the container can be removed, and
      // numbers begin anew in the next one.
      effects.add(new RemoveContainer());
      fail(
          request,
          false,
          "the sequence numbers of lock '"
              + name
              + "' begin anew as soon as those who hold it or wait have left.");
    } else if (reason instanceof WithdrawalReason.CapacityDiffers differs) {
      answer(
          request,
          Refusals.capacityDiffers(request.attempt(), name, differs.present(), attempt.capacity()));
    } else if (reason instanceof WithdrawalReason.Busy busy) {
      answer(request, new Reply.Busy(request.attempt(), busy.holder(), retryAfter()));
    }
    finish();
  }

  // ---- Queueing ----

  /** The second of two, or a newcomer to a long queue, looks at the number before its own only. */
  private void arrive(Arrival arrival) {
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
    watches.watch(attempt, before);
    effects.add(new WatchNode(new LockQueue.QueueNode(attempt.weight(), before), arrival));
  }

  /** The first waiter, or several readers, watch the node before; or that node has gone. */
  public List<QueueEffect> onWatched(WatchNode watch, NodeContent nodeContent) {
    Stat stat = nodeContent.stat();
    if (stat == null) {
      // Nobody will call them.
      watches.called(watch.node().seq());
    }
    Arrival arrival = watch.arrival();
    if (arrival == null) {
      if (stat == null) {
        look();
      }
      return effects();
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
    return effects();
  }

  private void queue(
      PendingRequest request, ZooKeeperAttempt attempt, int ahead, Reply.@Nullable Holder holder) {
    answer(request, new Reply.Queued(attempts.id(attempt), ahead, holder, retryAfter()));
    finish();
  }

  private Reply.Holder holder(NodeData.AttemptData attemptData, Stat stat) {
    return new Reply.Holder(
        attemptData.attempt(), session.tokenRank(stat.getCzxid()) << 16, attemptData.ttl());
  }

  /** After so long a waiter is to poll at the latest. */
  private Duration retryAfter() {
    return session.spec().ttl().dividedBy(2);
  }

  /** Holders of this session are told at once, others by notes. */
  private void leaveNotes(List<AttemptId> holders, NotesPurpose purpose) {
    List<AttemptId> others = new ArrayList<>();
    for (AttemptId holder : holders) {
      if (attempts.isOurs(holder)) {
        attempts.want(holder).ifPresent(notification -> effects.add(new Tell(notification)));
      } else {
        others.add(holder);
      }
    }
    if (others.isEmpty()) {
      goOn(purpose);
    } else {
      effects.add(new LeaveNotes(others, purpose));
    }
  }

  /** Holders of other sessions have been told. */
  public List<QueueEffect> onNotesLeft(NotesPurpose purpose) {
    goOn(purpose);
    return effects();
  }

  private void goOn(NotesPurpose purpose) {
    if (purpose instanceof NotesPurpose.Queueing queueing) {
      queue(queueing.request(), queueing.attempt(), 1, queueing.holder());
    } else if (purpose instanceof NotesPurpose.Concluding concluding) {
      conclude(concluding.look());
    }
  }

  // ---- Watching ----

  /**
   * The first waiter hears if its own node goes, or if one more comes behind it. So when it hears
   * that the holder's node has gone, it holds, and knows whether the lock is wanted: over one
   * connection, watches tell in the order in which things happened.
   */
  private void watchOwn(ZooKeeperAttempt attempt, int holder, OptionalInt behind) {
    effects.add(new WatchOwnNode(attempt, holder, behind, connection));
    if (behind.isEmpty()) {
      effects.add(new WatchSuccessors(attempt, connection));
    }
  }

  /** The first waiter's own node was read. */
  public List<QueueEffect> onOwnWatched(WatchOwnNode watch, NodeContent nodeContent) {
    ZooKeeperAttempt attempt = watch.attempt();
    Stat stat = nodeContent.stat();
    if (isSame(watch.connection()) && stat != null && isOurs(nodeContent, attempt)) {
      watches.next(attempt, watch.holder(), stat.getCzxid());
      watch.behind().ifPresent(behind -> watches.behindNext(attempt, behind));
    }
    return effects();
  }

  /** The queue was listed: the holder and the first waiter are two of its nodes. */
  public List<QueueEffect> onSuccessorsWatched(WatchSuccessors watch, int nodes) {
    if (isSame(watch.connection())) {
      watches.behindNext(watch.attempt(), Math.max(0, nodes - 2));
    }
    return effects();
  }

  /** Whether nothing that is watched since then can have gone untold. */
  private boolean isSame(int since) {
    return session.isUp() && connection == since;
  }

  /** A node came or went. */
  public List<QueueEffect> onChildrenChanged() {
    watches.queueChanged();
    if (watchesAll) {
      look();
    }
    return effects();
  }

  /** The node with this number was removed, or written to. */
  public List<QueueEffect> onNodeChanged(EventType type, int seq) {
    WatchTable.NextWaiter next = watches.nextAfter(seq);
    watches.happened(seq);
    List<ZooKeeperAttempt> called = watches.called(seq);
    if (!called.isEmpty()) {
      call(called, type, seq, next);
    }
    return effects();
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
      grant(first, next.czxid(), next.behind().getAsInt());
      announce(first);
      return;
    }
    boolean alone = called.size() == 1 && first.isExclusive() && !looking;
    if (alone && type == EventType.NodeDataChanged) {
      beginLook();
      effects.add(
          new ReadNodes(
              new ReadPurpose.Confirming(first),
              List.of(node(first), path, path + "/" + LockQueue.node(Mode.SHARERS, seq))));
    } else if (alone && requester == null) {
      beginLook();
      effects.add(new ReadQueue(first));
    } else {
      look();
    }
  }

  /** The node that the attempt watched has gone, and may have held: the first one holds by now. */
  public List<QueueEffect> onQueueRead(ReadQueue read, @Nullable List<String> children, NodeContent own) {
    ZooKeeperAttempt attempt = read.attempt();
    Stat stat = own.stat();
    if (children == null) {
      lookAgain = true;
      endLook();
      return effects();
    }
    LockQueue queue = LockQueue.of(children, attempt.capacity());
    boolean waits = waiting.containsKey(attempt.number) && !attempt.leaving;
    if (waits && stat != null && queue.indexOf(attempt.seq) == 0 && isOurs(own, attempt)) {
      grant(attempt, stat.getCzxid(), queue.size() - 1);
      announce(attempt);
      endLook();
    } else {
      listed(new QueueLook(null, false), Code.OK, children);
    }
    return effects();
  }

  /** The node that the attempt watched has held and gone: the attempt holds if its own stands. */
  private void confirmingRead(
      ReadPurpose.Confirming confirming, @Nullable List<NodeContent> nodeContents) {
    ZooKeeperAttempt attempt = confirming.attempt();
    Stat own = nodeContents == null ? null : nodeContents.get(0).stat();
    Stat container = nodeContents == null ? null : nodeContents.get(1).stat();
    if (nodeContents == null || container == null || nodeContents.get(2).stat() != null) {
      lookAgain = true;
    } else if (attempt.state() == NodeState.WAITING && !attempt.leaving) {
      if (own == null || !isOurs(nodeContents.get(0), attempt)) {
        vanish(attempt);
      } else {
        grant(attempt, own.getCzxid(), container.getNumChildren() - 1);
        announce(attempt);
      }
    }
    endLook();
  }

  // ---- Looking ----

  /** The next look that begins answers this request. */
  private void lookFor(PendingRequest request) {
    requester = request;
    look();
  }

  /** Lists the queue, and does for each of our attempts what follows from it. */
  private void look() {
    if (looking) {
      lookAgain = true;
      return;
    }
    beginLook();
    effects.add(new ListNodes(new QueueLook(requester, watchesAll)));
    requester = null;
  }

  private void beginLook() {
    looking = true;
    attempts.lookBegins();
  }

  private void endLook() {
    looking = false;
    attempts.lookEnds();
    if (lookAgain || requester != null) {
      lookAgain = false;
      look();
    }
    advance();
  }

  private @Nullable ZooKeeperAttempt asking(QueueLook look) {
    return look.requester == null ? null : waiting.get(look.requester.attempt().number());
  }

  /** The queue was listed, or could not be. */
  public List<QueueEffect> onListed(QueueLook look, Code code, @Nullable List<String> children) {
    listed(look, code, children);
    return effects();
  }

  private void listed(QueueLook look, Code code, @Nullable List<String> children) {
    if (code != Code.OK && code != Code.NONODE) {
      failLook(look);
      return;
    }
    if (waiting.isEmpty()) {
      conclude(look);
      return;
    }
    int capacity = waiting.values().iterator().next().capacity();
    look.queue = LockQueue.of(children == null ? List.of() : children, capacity);
    placeAll(look);
    // For permits, any change may be the turn of the first waiter.
    boolean all = capacity != Mode.SHARERS && look.waits;
    lookAgain |= all && !look.watching;
    watchesAll = all;
    boolean told = look.waits || asking(look) != null;
    look.heads = told ? Math.min(look.queue.holding(), MOST_HEADS) : 0;
    List<String> paths = new ArrayList<>();
    for (int i = 0; i < look.heads; i++) {
      paths.add(path + "/" + look.queue.place(i).node());
    }
    look.holding.forEach(attempt -> paths.add(node(attempt)));
    if (paths.isEmpty()) {
      seen(look, List.of());
    } else {
      effects.add(new ReadNodes(new ReadPurpose.Looking(look), paths));
    }
  }

  /** Finds which of our attempts hold by now, and has the others watch the node before theirs. */
  private void placeAll(QueueLook look) {
    LockQueue queue = look.queue;
    Map<Integer, List<ZooKeeperAttempt>> behind = new LinkedHashMap<>();
    for (ZooKeeperAttempt attempt : waiting.values()) {
      int index = queue.indexOf(attempt.seq);
      if (index < 0) {
        look.missing.add(attempt);
      } else if (index < queue.holding()) {
        look.holding.add(attempt);
      } else if (attempt.queues) {
        look.waits |= index == queue.holding();
        int before = queue.watched(index, attempt.isShared());
        int seq = queue.place(before).seq();
        if (!watches.watches(attempt, seq)) {
          if (index == 1 && attempt.isExclusive()) {
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
          waiters.forEach(waiter -> watches.watch(waiter, node.seq()));
          effects.add(new WatchNode(node, null));
        });
  }

  /** Nodes were read, or there was no answer. */
  public List<QueueEffect> onRead(ReadPurpose purpose, @Nullable List<NodeContent> nodeContents) {
    if (purpose instanceof ReadPurpose.Placing placing) {
      placingRead(placing, nodeContents);
    } else if (purpose instanceof ReadPurpose.Polling polling) {
      polled(polling.request(), polling.attempt(), nodeContents);
    } else if (purpose instanceof ReadPurpose.PollingMany) {
      polledMany(nodeContents);
    } else if (purpose instanceof ReadPurpose.Confirming confirming) {
      confirmingRead(confirming, nodeContents);
    } else if (purpose instanceof ReadPurpose.Looking looking) {
      if (nodeContents == null) {
        failLook(looking.look());
      } else {
        seen(looking.look(), nodeContents);
      }
    }
    return effects();
  }

  private void seen(QueueLook look, List<NodeContent> nodeContents) {
    for (ZooKeeperAttempt attempt : look.missing) {
      if (waiting.containsKey(attempt.number)) {
        vanish(attempt);
      }
    }
    int waiters = look.queue.size() - look.queue.holding();
    int at = look.heads;
    for (ZooKeeperAttempt attempt : look.holding) {
      NodeContent nodeContent = nodeContents.get(at++);
      if (waiting.containsKey(attempt.number)) {
        seenHolding(attempt, nodeContent, waiters);
      }
    }
    leaveNotes(heads(look, nodeContents), new NotesPurpose.Concluding(look));
  }

  private void seenHolding(ZooKeeperAttempt attempt, NodeContent nodeContent, int waiters) {
    Stat stat = nodeContent.stat();
    if (stat == null || !isOurs(nodeContent, attempt)) {
      vanish(attempt);
      return;
    }
    grant(attempt, stat.getCzxid(), waiters);
    if (attempt.capacity() != Mode.SHARERS) {
      // The waiter that watches it becomes the first one.
      effects.add(new RewriteNode(attempt, nodeContent));
    }
    announce(attempt);
  }

  /** The first holder is remembered. Returns the holders that are to be told of a contender. */
  private List<AttemptId> heads(QueueLook look, List<NodeContent> nodeContents) {
    ZooKeeperAttempt asking = asking(look);
    boolean tries = asking != null && !asking.queues;
    List<AttemptId> untold = new ArrayList<>();
    for (int i = 0; i < look.heads; i++) {
      NodeData.AttemptData attemptData = NodeData.attempt(nodeContents.get(i).data());
      Stat stat = nodeContents.get(i).stat();
      if (attemptData != null && stat != null) {
        if (look.holder == null) {
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
      // Granted, and answered; or its node has vanished.
      refuseAsRemoved(request);
      finish();
    } else if (request != null && attempt != null && attempt.queues) {
      queue(request, attempt, Math.max(0, look.queue.indexOf(attempt.seq)), look.holder);
    } else if (request != null && attempt != null) {
      withdraw(request, attempt, new WithdrawalReason.Busy(look.holder));
    }
    endLook();
  }

  private void failLook(QueueLook look) {
    if (look.requester != null) {
      fail(look.requester, true, "the connection was lost.");
      finish();
    }
    // The next connection looks again.
    lookAgain = false;
    endLook();
  }

  // ---- Polling ----

  /** The request of an attempt that has a node was sent again. */
  private void polled(
      PendingRequest request, ZooKeeperAttempt attempt, @Nullable List<NodeContent> nodeContents) {
    if (current != request) {
      return;
    }
    if (nodeContents == null) {
      fail(request, true, "the connection was lost.");
      finish();
      return;
    }
    Stat container = nodeContents.get(0).stat();
    if (!isOurs(nodeContents.get(1), attempt)) {
      forget(attempt);
      refuseAsRemoved(request);
      finish();
    } else if (attempt.state() == NodeState.HELD) {
      answer(request, granted(attempt));
      finish();
    } else if (waitsInLongQueue(attempt, container)) {
      answer(request, queuedBehind(attempt, container));
      finish();
    } else {
      lookFor(request);
    }
  }

  /** The same for many attempts that wait, by one read, while other requests go on. */
  private void pollMany() {
    if (!polled.isEmpty() || polls.isEmpty()) {
      return;
    }
    List<PendingRequest> requests = new ArrayList<>();
    List<String> paths = new ArrayList<>();
    paths.add(path);
    while (requests.size() < MOST_POLLS && !polls.isEmpty()) {
      PendingRequest request = polls.remove();
      ZooKeeperAttempt attempt = attempts.find(request.attempt(), name);
      if (attempt == null) {
        // It has ended meanwhile, which is told in its turn.
        pollInTurn(request);
      } else {
        requests.add(request);
        paths.add(node(attempt));
      }
    }
    polled = requests;
    if (!requests.isEmpty()) {
      effects.add(new ReadNodes(new ReadPurpose.PollingMany(), paths));
    }
  }

  private void polledMany(@Nullable List<NodeContent> nodeContents) {
    List<PendingRequest> requests = polled;
    polled = List.of();
    for (int i = 0; i < requests.size(); i++) {
      PendingRequest request = requests.get(i);
      ZooKeeperAttempt attempt = attempts.find(request.attempt(), name);
      if (nodeContents == null) {
        fail(request, true, "the connection was lost.");
      } else if (attempt == null || !isOurs(nodeContents.get(i + 1), attempt)) {
        // Something has happened to it: for a look of its own.
        pollInTurn(request);
      } else if (attempt.state() == NodeState.HELD && !attempt.leaving) {
        answer(request, granted(attempt));
      } else if (waitsInLongQueue(attempt, nodeContents.get(0).stat())) {
        answer(request, queuedBehind(attempt, nodeContents.get(0).stat()));
      } else {
        pollInTurn(request);
      }
    }
    pollMany();
    advance();
  }

  /** A poll has to be answered in its turn after all. */
  private void pollInTurn(PendingRequest request) {
    if (!request.isAnswered()) {
      pending.add(request);
    }
  }

  /** The attempt will be called, or a look is in flight that is about it. */
  private boolean waitsInLongQueue(ZooKeeperAttempt attempt, @Nullable Stat container) {
    return attempt.state() == NodeState.WAITING
        && !attempt.leaving
        && (watches.watches(attempt) || looking)
        && container != null
        && container.getNumChildren() > SHORT;
  }

  private Reply.Queued queuedBehind(ZooKeeperAttempt attempt, @Nullable Stat container) {
    int others = container == null ? 0 : container.getNumChildren() - 1;
    return new Reply.Queued(attempts.id(attempt), others, null, retryAfter());
  }

  // ---- Connections ----

  /** From now on events are missed, or come in another order. */
  public List<QueueEffect> onDisconnected() {
    connection++;
    watches.forgetNext();
    return effects();
  }

  /**
   * Attempts in doubt are looked up, and what may have been missed.
   *
   * @param inDoubt whether there are such attempts
   */
  public List<QueueEffect> onReconnected(boolean inDoubt) {
    if (inDoubt) {
      recover();
    }
    if (!waiting.isEmpty()) {
      look();
    }
    return effects();
  }

  /** A recovery that got no answer is due again. */
  public List<QueueEffect> onRecoveryDue() {
    if (session.isUp() && !attempts.inDoubt(name).isEmpty()) {
      recover();
    }
    return effects();
  }

  /** Finds out what became of attempts in doubt. Requests wait for it. */
  private void recover() {
    if (!recovering) {
      recovering = true;
      effects.add(new ReadIndex());
    }
  }

  /** The whole queue was read; or there was no answer. */
  public List<QueueEffect> onIndexRead(@Nullable AttemptIndex found) {
    recovering = false;
    if (found != null) {
      attempts.inDoubt(name).forEach(attempt -> resolve(attempt, found));
    } else if (session.isUp()) {
      // Another connection has come already, and found this read in flight.
      effects.add(new RecoverLater());
    }
    advance();
    return effects();
  }

  private void resolve(ZooKeeperAttempt attempt, AttemptIndex found) {
    Integer index = found.index().get(attempts.id(attempt));
    if (index == null && attempt.leaving) {
      end(attempt, attempt.ifReleased());
    } else if (index == null) {
      attempts.discard(attempt);
    } else {
      attempt.seq = found.queue().place(index).seq();
      if (attempt.leaving || found.capacity() != attempt.capacity()) {
        attempt.leaving = true;
        effects.add(new RemoveNode(attempt, Urgency.NEXT, new RemovalCause.Leftover()));
      } else {
        attempt.state(NodeState.WAITING);
        watches.watchesNothing(attempt);
        waiting.put(attempt.number, attempt);
        look();
      }
    }
  }
}
