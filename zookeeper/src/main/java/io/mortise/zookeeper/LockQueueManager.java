package io.mortise.zookeeper;

import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.internal.storekit.Refusals;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.AttemptState;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Reply.RefusalReason;
import io.mortise.spi.Request;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.time.Ticker;
import io.mortise.zookeeper.LockRequests.PendingRequest;
import io.mortise.zookeeper.ZooKeeperAttempt.NodeState;
import io.mortise.zookeeper.internal.node.EndedAttempts;
import io.mortise.zookeeper.internal.node.LockQueue;
import io.mortise.zookeeper.internal.node.NodeLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.jspecify.annotations.Nullable;

/**
 * What a session does about locks: one request of a name after the other, each a creation ({@link
 * AcquireHandler}), a look at the queue, or a removal ({@link ReleaseHandler}). {@link
 * PredecessorWatcher} finds out who holds, {@link PollBatcher} answers who asks again, {@link
 * AttemptRecovery} finds out what became of what was in doubt. Guarded by the session.
 */
final class LockQueueManager {
  private final SessionCore core;
  private final Ticker ticker;
  private final NodeWriter nodeWriter;
  private final SoleUserCache soleUserCache;
  private final PredecessorWatcher predecessorWatcher;
  private final PollBatcher pollBatcher;
  private final AcquireHandler acquireHandler;
  private final ReleaseHandler releaseHandler;
  private final AttemptRecovery attemptRecovery;
  private final AttemptTable attempts = new AttemptTable();
  private final EndedAttempts endedAttempts = new EndedAttempts();
  private final Map<String, LockRequests> queues = new HashMap<>();

  LockQueueManager(SessionCore core, Ticker ticker, NodeWriter nodeWriter) {
    this.core = core;
    this.ticker = ticker;
    this.nodeWriter = nodeWriter;
    this.soleUserCache = new SoleUserCache(core);
    this.predecessorWatcher = new PredecessorWatcher(core, this);
    this.pollBatcher = new PollBatcher(core, this, predecessorWatcher);
    this.releaseHandler = new ReleaseHandler(core, this, nodeWriter, soleUserCache);
    this.acquireHandler =
        new AcquireHandler(
            core, this, nodeWriter, predecessorWatcher, pollBatcher, releaseHandler, soleUserCache);
    this.attemptRecovery = new AttemptRecovery(core, this);
  }

  boolean isSettled() {
    return predecessorWatcher.underWay() == 0;
  }

  // ---- Requests ----

  void submit(Request request, boolean later, Consumer<Reply> sink) {
    PendingRequest pendingRequest = new PendingRequest(request, ticker.nanos(), later, sink);
    Reply refusal = core.store().profile().refusal(request).orElse(null);
    if (refusal != null) {
      answer(pendingRequest, refusal);
    } else if (!core.isOpen()) {
      gone(pendingRequest);
    } else {
      LockRequests requests = requests(request.name());
      if (request instanceof Request.Abandon && mayPass(requests, pendingRequest)) {
        start(requests, pendingRequest);
      } else if (request instanceof Request.Acquire && isPolledAside(requests, pendingRequest)) {
        requests.polls.add(pendingRequest);
        pollBatcher.pollInBatch(requests);
      } else {
        requests.pendingRequests.add(pendingRequest);
      }
      advance(requests);
    }
  }

  /**
   * Whether an end may go before what others of this session ask about the same lock: thousands of
   * them must not keep a holder from giving it back. Ending takes nothing from anybody.
   */
  private boolean mayPass(LockRequests requests, PendingRequest pendingRequest) {
    ZooKeeperAttempt known =
        isOurs(pendingRequest.attempt()) ? attempts.get(pendingRequest.attempt().number()) : null;
    return known != null
        && known.name.equals(requests.name)
        && (known.state() == NodeState.HELD || known.state() == NodeState.WAITING)
        && requests.isBusy()
        && !requests.concerns(pendingRequest.attempt());
  }

  /**
   * Whether a request sent again may be answered by a read that many share: thousands of waiters of
   * one process would keep those from coming who have no node yet.
   */
  private boolean isPolledAside(LockRequests requests, PendingRequest pendingRequest) {
    ZooKeeperAttempt known =
        isOurs(pendingRequest.attempt()) ? attempts.get(pendingRequest.attempt().number()) : null;
    return known != null
        && known.name.equals(requests.name)
        && known.state() == NodeState.WAITING
        && known.queues
        && !known.leaving
        && requests.waiting.size() > PredecessorWatcher.SHORT
        && core.connection().isUp();
  }

  private LockRequests requests(LockName name) {
    return queues.computeIfAbsent(core.layout().lock(name), path -> new LockRequests(name, path));
  }

  void answer(PendingRequest pendingRequest, Reply reply) {
    pendingRequest.answer(core.guard(), reply);
  }

  /** What was asked aside has to be answered in its turn after all. */
  void again(LockRequests requests, PendingRequest pendingRequest) {
    if (!pendingRequest.isAnswered()) {
      requests.pendingRequests.add(pendingRequest);
    }
  }

  /** The node of the attempt was neither deleted by its session nor has the session ended. */
  void refuseAsRemoved(PendingRequest pendingRequest) {
    answer(
        pendingRequest,
        new Reply.Refused(
            pendingRequest.attempt(), RefusalReason.ENDED, "Somebody removed the attempt's node."));
  }

  void fail(PendingRequest pendingRequest, boolean mayHaveRun, String why) {
    StoreUnavailableException cause =
        new StoreUnavailableException(
            "ZooKeeper did not answer (store=" + core.display() + "): " + why);
    answer(pendingRequest, new Reply.Failed(pendingRequest.attempt(), mayHaveRun, cause));
  }

  /** The session is not, or no longer, alive. */
  private void gone(PendingRequest pendingRequest) {
    if (pendingRequest.request instanceof Request.Abandon) {
      if (isOurs(pendingRequest.attempt())) {
        absent(pendingRequest);
      } else {
        releaseHandler.foreign(pendingRequest, () -> {});
      }
    } else {
      answer(pendingRequest, Refusals.sessionGone(pendingRequest.attempt()));
    }
  }

  void absent(PendingRequest pendingRequest) {
    EndedAttempts.AttemptEnd attemptEnd =
        isOurs(pendingRequest.attempt())
            ? endedAttempts.get(pendingRequest.attempt().number(), pendingRequest.request.name())
            : null;
    answer(
        pendingRequest,
        attemptEnd == null
            ? new Reply.Ended(
                pendingRequest.attempt(), AttemptState.ABSENT, EndReason.UNKNOWN, false)
            : new Reply.Ended(
                pendingRequest.attempt(), attemptEnd.attemptState, attemptEnd.endReason, false));
  }

  private boolean isOurs(AttemptId attempt) {
    return attempt.session().equals(core.id());
  }

  /** Begins what can be begun. */
  void advance(LockRequests requests) {
    while (requests.current == null
        && !requests.recovering
        && !requests.pendingRequests.isEmpty()) {
      start(requests, requests.pendingRequests.remove());
    }
    if (requests.isIdle()) {
      queues.remove(requests.path, requests);
    }
  }

  /** The current request is answered. */
  void finish(LockRequests requests) {
    requests.current = null;
    advance(requests);
  }

  private void start(LockRequests requests, PendingRequest pendingRequest) {
    ZooKeeperAttempt known =
        isOurs(pendingRequest.attempt()) ? attempts.get(pendingRequest.attempt().number()) : null;
    if (known != null && !known.name.equals(requests.name)) {
      known = null;
    }
    if (pendingRequest.request instanceof Request.Adjust adjust) {
      acquireHandler.adjust(pendingRequest, adjust, known);
    } else if (known != null && known.state() == NodeState.DOUBT && core.connection().isUp()) {
      known.leaving |= pendingRequest.request instanceof Request.Abandon;
      requests.pendingRequests.addFirst(pendingRequest);
      attemptRecovery.recover(requests);
    } else if (pendingRequest.request instanceof Request.Acquire acquire) {
      acquireHandler.acquire(requests, pendingRequest, acquire, known);
    } else if (known != null) {
      releaseHandler.abandon(requests, pendingRequest, known);
    } else if (isOurs(pendingRequest.attempt())) {
      absent(pendingRequest);
    } else {
      requests.current = pendingRequest;
      releaseHandler.foreign(pendingRequest, () -> finish(requests));
    }
  }

  // ---- What becomes of attempts ----

  /** Whether an attempt of this session has ended, or its number was given to another one. */
  boolean hasEnded(AttemptId attempt, LockName name) {
    return endedAttempts.get(attempt.number(), name) != null
        || attempts.get(attempt.number()) != null;
  }

  /** An attempt whose node is about to be made. */
  void add(ZooKeeperAttempt zooKeeperAttempt) {
    attempts.add(zooKeeperAttempt);
  }

  @Nullable ZooKeeperAttempt attempt(PendingRequest pendingRequest) {
    return attempts.get(pendingRequest.attempt().number());
  }

  /** What became of it is looked up once there is a connection. */
  void doubt(ZooKeeperAttempt zooKeeperAttempt) {
    zooKeeperAttempt.state(NodeState.DOUBT);
  }

  /** The attempt holds from now on; who hears of it is the caller's business. */
  void grant(LockRequests requests, ZooKeeperAttempt zooKeeperAttempt, long czxid, int waiters) {
    succeed(requests, zooKeeperAttempt, core.tokenRank(czxid), waiters);
  }

  /** The same, with the tokens that go on behind those of the hold before. */
  void succeed(LockRequests requests, ZooKeeperAttempt zooKeeperAttempt, long rank, int waiters) {
    requests.leaves(zooKeeperAttempt);
    zooKeeperAttempt.granted(rank);
    if (waiters > PredecessorWatcher.SHORT) {
      zooKeeperAttempt.wantedByMany();
    } else if (waiters > 0) {
      zooKeeperAttempt.wanted();
    }
  }

  Reply.Granted granted(ZooKeeperAttempt zooKeeperAttempt) {
    return new Reply.Granted(
        core.attempt(zooKeeperAttempt.number),
        zooKeeperAttempt.token(),
        zooKeeperAttempt.tokens,
        zooKeeperAttempt.isWanted(),
        null);
  }

  /** As the queue's turn came: nobody asked just now. */
  void tellGranted(ZooKeeperAttempt zooKeeperAttempt) {
    core.tell(
        new SessionNotification.Granted(
            zooKeeperAttempt.name,
            core.attempt(zooKeeperAttempt.number),
            zooKeeperAttempt.token(),
            zooKeeperAttempt.tokens,
            zooKeeperAttempt.isWanted(),
            false));
  }

  /** Somebody else removed the node, and who asks just now is told. */
  void forget(LockRequests requests, ZooKeeperAttempt zooKeeperAttempt) {
    requests.leaves(zooKeeperAttempt);
    ended(
        zooKeeperAttempt,
        zooKeeperAttempt.wasHeld()
            ? EndedAttempts.AttemptEnd.HOLD_GONE
            : EndedAttempts.AttemptEnd.WAIT_GONE);
  }

  /** Somebody else removed the node. */
  void vanished(LockRequests requests, ZooKeeperAttempt zooKeeperAttempt) {
    forget(requests, zooKeeperAttempt);
    core.tell(
        new SessionNotification.HoldEnded(
            zooKeeperAttempt.name, core.attempt(zooKeeperAttempt.number), EndReason.UNKNOWN));
  }

  /** A waiter has left a note for this holder. */
  void wanted(AttemptId id) {
    ZooKeeperAttempt zooKeeperAttempt = isOurs(id) ? attempts.get(id.number()) : null;
    if (zooKeeperAttempt != null && !zooKeeperAttempt.isWanted()) {
      zooKeeperAttempt.wanted();
      if (zooKeeperAttempt.state() == NodeState.HELD && !zooKeeperAttempt.leaving) {
        core.tell(new SessionNotification.Contended(zooKeeperAttempt.name, id));
      }
    }
  }

  /** The node is gone, and that is remembered. */
  void ended(ZooKeeperAttempt zooKeeperAttempt, EndedAttempts.AttemptEnd attemptEnd) {
    attempts.remove(zooKeeperAttempt);
    endedAttempts.add(zooKeeperAttempt.number, zooKeeperAttempt.name, attemptEnd);
    core.inbox().forget(core.attempt(zooKeeperAttempt.number));
  }

  /** Its node was found again: whether it holds is looked up. */
  void resumeWait(LockRequests requests, ZooKeeperAttempt zooKeeperAttempt) {
    requests.waiting.put(zooKeeperAttempt.number, zooKeeperAttempt);
    predecessorWatcher.look(requests);
  }

  /** It has no node, and counts as never made. */
  void discardUncreated(ZooKeeperAttempt zooKeeperAttempt) {
    attempts.remove(zooKeeperAttempt);
  }

  ReleaseHandler releaseHandler() {
    return releaseHandler;
  }

  NodeWriter nodeWriter() {
    return nodeWriter;
  }

  // ---- What the connection tells ----

  void changed(EventType type, String path) {
    soleUserCache.changed(type, path);
    LockRequests whole = queues.get(path);
    if (whole != null) {
      if (type == EventType.NodeChildrenChanged) {
        whole.queueChanged();
        if (whole.watchesAll) {
          predecessorWatcher.look(whole);
        }
      }
      return;
    }
    LockRequests requests = queues.get(NodeLayout.parent(path));
    if (requests != null) {
      predecessorWatcher.changed(
          requests, type, LockQueue.QueueNode.parse(NodeLayout.last(path)).seq());
    }
  }

  /** What happens meanwhile is not told, or in another order. */
  void disconnected() {
    soleUserCache.forget();
    queues.values().forEach(LockRequests::forgetNext);
  }

  /** What was in doubt is looked up, and what may have been missed. */
  void reconnected() {
    soleUserCache.forget();
    for (ZooKeeperAttempt zooKeeperAttempt : attempts.all()) {
      if (zooKeeperAttempt.state() == NodeState.DOUBT) {
        attemptRecovery.recover(requests(zooKeeperAttempt.name));
      }
    }
    for (LockRequests requests : List.copyOf(queues.values())) {
      if (!requests.waiting.isEmpty()) {
        predecessorWatcher.look(requests);
      }
    }
  }

  List<ZooKeeperAttempt> inDoubt(LockRequests requests) {
    List<ZooKeeperAttempt> found = new ArrayList<>();
    for (ZooKeeperAttempt zooKeeperAttempt : attempts.all()) {
      if (zooKeeperAttempt.state() == NodeState.DOUBT
          && zooKeeperAttempt.name.equals(requests.name)) {
        found.add(zooKeeperAttempt);
      }
    }
    return found;
  }

  /** Whoever has waited for too long is told that there was no answer. */
  void expire(long now, long requestTimeout) {
    for (LockRequests requests : List.copyOf(queues.values())) {
      PendingRequest current = requests.current;
      if (current != null && now - current.since > requestTimeout) {
        fail(current, true, "no answer in time.");
      }
      for (PendingRequest pendingRequest : requests.polled) {
        if (now - pendingRequest.since > requestTimeout) {
          fail(pendingRequest, true, "no answer in time.");
        }
      }
      for (Queue<PendingRequest> unsent : List.of(requests.pendingRequests, requests.polls)) {
        for (PendingRequest pendingRequest : unsent) {
          if (now - pendingRequest.since > requestTimeout) {
            fail(pendingRequest, false, "no answer in time.");
          }
        }
        unsent.removeIf(PendingRequest::isAnswered);
      }
    }
    for (PendingRequest pendingRequest : releaseHandler.unanswered()) {
      if (now - pendingRequest.since > requestTimeout) {
        fail(pendingRequest, true, "no answer in time.");
      }
    }
  }

  /** Attempts that may have a node of a number that is not known, by the path of their lock. */
  Map<String, Set<AttemptId>> attemptsInDoubt() {
    Map<String, Set<AttemptId>> found = new HashMap<>();
    for (ZooKeeperAttempt zooKeeperAttempt : attempts.all()) {
      if (zooKeeperAttempt.state() == NodeState.SENT
          || zooKeeperAttempt.state() == NodeState.DOUBT) {
        found
            .computeIfAbsent(
                core.layout().lock(zooKeeperAttempt.name), unused -> new LinkedHashSet<>())
            .add(core.attempt(zooKeeperAttempt.number));
      }
    }
    return found;
  }

  /** The nodes of all others, and the notes that they have left. */
  List<String> nodes() {
    List<String> found = new ArrayList<>(predecessorWatcher.notes());
    for (ZooKeeperAttempt zooKeeperAttempt : attempts.all()) {
      if (zooKeeperAttempt.state() == NodeState.WAITING
          || zooKeeperAttempt.state() == NodeState.HELD) {
        found.add(core.layout().lock(zooKeeperAttempt.name) + "/" + zooKeeperAttempt.node());
      }
    }
    return found;
  }

  /** The session has ended, and with it all that hung on it. */
  void over() {
    for (ZooKeeperAttempt zooKeeperAttempt : attempts.all()) {
      if (zooKeeperAttempt.wasHeld()) {
        endedAttempts.add(
            zooKeeperAttempt.number, zooKeeperAttempt.name, EndedAttempts.AttemptEnd.HOLD_TAKEN);
      }
      attempts.remove(zooKeeperAttempt);
    }
    List<PendingRequest> open = new ArrayList<>(releaseHandler.unanswered());
    for (LockRequests requests : queues.values()) {
      if (requests.current != null) {
        open.add(requests.current);
      }
      open.addAll(requests.polled);
      open.addAll(requests.polls);
      open.addAll(requests.pendingRequests);
    }
    releaseHandler.over();
    queues.clear();
    open.forEach(this::gone);
  }
}
