package io.mortise.zookeeper.internal.queue;

import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Reply.RefusalReason;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.support.internal.session.Refusals;
import io.mortise.zookeeper.internal.node.AtLeastMark;
import io.mortise.zookeeper.internal.node.EndedAttempts.AttemptEnd;
import io.mortise.zookeeper.internal.node.LockQueue;
import io.mortise.zookeeper.internal.node.MultiRead.NodeContent;
import io.mortise.zookeeper.internal.node.NodeData;
import io.mortise.zookeeper.internal.queue.QueueEffect.AnswerRequest;
import io.mortise.zookeeper.internal.queue.QueueEffect.EndSession;
import io.mortise.zookeeper.internal.queue.QueueEffect.ForgetNotifications;
import io.mortise.zookeeper.internal.queue.QueueEffect.KeepShut;
import io.mortise.zookeeper.internal.queue.QueueEffect.MarkChange;
import io.mortise.zookeeper.internal.queue.QueueEffect.NarrowNode;
import io.mortise.zookeeper.internal.queue.QueueEffect.NotifyEngine;
import io.mortise.zookeeper.internal.queue.QueueEffect.ReadNodes;
import io.mortise.zookeeper.internal.queue.QueueEffect.ReadPurpose;
import io.mortise.zookeeper.internal.queue.QueueEffect.RemovalCause;
import io.mortise.zookeeper.internal.queue.QueueEffect.RemoveMark;
import io.mortise.zookeeper.internal.queue.QueueEffect.RemoveNode;
import io.mortise.zookeeper.internal.queue.QueueEffect.Urgency;
import io.mortise.zookeeper.internal.queue.QueueEffect.WithdrawalReason;
import io.mortise.zookeeper.internal.queue.ZooKeeperAttempt.NodeState;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a session for one lock, its waiting attempts, and the steps that all parts share:
 * answers, grants and ends. The parts {@link QueueScan}, {@link NodePlacement}, {@link PollBatch}
 * and {@link LockQueueState} share this. Guarded by its session.
 */
final class LockRequests {
  final SessionFacts session;
  final SessionAttempts attempts;
  final LockName name;

  /** The lock's container. */
  final String path;

  final WatchTable watches = new WatchTable();

  /** Waiting attempts of this session, by number. */
  final Map<Long, ZooKeeperAttempt> waiting = new LinkedHashMap<>();

  /**
   * Nodes in front of waiters whose sessions have ended, by their numbers. They are passed, if the
   * next read of them names the same session: a container that is made anew repeats numbers.
   */
  final Map<Integer, SessionId> endedSessions = new HashMap<>();

  /** At-least times whose marks are being made. */
  final Set<AtLeastHold> marking = new LinkedHashSet<>();

  /** Requests that have not begun. */
  final ArrayDeque<PendingRequest> pending = new ArrayDeque<>();

  /** The request whose answer is being found; the next begins after it. */
  @Nullable PendingRequest current;

  /** Effects to execute after the transition. */
  final List<QueueEffect> effects = new ArrayList<>();

  LockRequests(SessionFacts session, SessionAttempts attempts, LockName name, String path) {
    this.session = session;
    this.attempts = attempts;
    this.name = name;
    this.path = path;
  }

  /** The nodes of ended sessions that are still there. */
  void keepEnded(List<LockQueue.QueueNode> nodes) {
    endedSessions
        .keySet()
        .retainAll(nodes.stream().map(LockQueue.QueueNode::seq).collect(Collectors.toSet()));
  }

  /** The current request is answered: the next begins when the transition has ended. */
  void finish() {
    current = null;
  }

  /** The path of an attempt's node. */
  String node(ZooKeeperAttempt attempt) {
    return path + "/" + attempt.node();
  }

  void answer(PendingRequest request, Reply reply) {
    if (request.markAnswered()) {
      effects.add(new AnswerRequest(request, reply));
    }
  }

  void fail(PendingRequest request, boolean mayHaveRun, String why) {
    answer(request, request.unanswered(session.display(), mayHaveRun, why));
  }

  /** The node was removed, though not by its session, which is alive. */
  void refuseAsRemoved(PendingRequest request) {
    answer(
        request,
        new Reply.Refused(
            request.attempt(), RefusalReason.ENDED, "Somebody removed the attempt's node."));
  }

  /** The attempt holds, by the node that this transaction created. */
  void grant(ZooKeeperAttempt attempt, long czxid, int waiters) {
    hold(attempt, session.tokenRank(czxid), waiters);
  }

  /** The attempt holds from now on. This does not tell the engine. */
  void hold(ZooKeeperAttempt attempt, long rank, int waiters) {
    leaveQueue(attempt);
    attempt.granted(rank);
    if (waiters > QueueScan.SHORT) {
      attempt.wantedByMany();
    } else if (waiters > 0) {
      attempt.wanted();
    }
  }

  /**
   * Answers that the attempt holds, unless an operator ends it. The mark of an at-least time is
   * made before.
   */
  void answerGranted(PendingRequest request, ZooKeeperAttempt attempt) {
    AtLeastHold atLeast = attempts.atLeast(attempt);
    if (atLeast != null && atLeast.lacksMark() && !attempts.isEvicted(attempt)) {
      atLeast.owed.add(request);
      mark(attempt, atLeast);
      return;
    }
    AttemptId id = attempts.id(attempt);
    answer(
        request,
        attempts.isEvicted(attempt)
            ? Refusals.ended(id, EndReason.EVICTED)
            : new Reply.Granted(
                id, attempt.token(), attempt.tokens, attempt.isWanted(), null, null));
  }

  /** Answers a request in flight; otherwise sends a notification. */
  void announce(ZooKeeperAttempt attempt) {
    AttemptId id = attempts.id(attempt);
    PendingRequest request = current;
    if (request != null
        && request.isAcquire()
        && !request.isAnswered()
        && request.attempt().equals(id)) {
      answerGranted(request, attempt);
      return;
    }
    AtLeastHold atLeast = attempts.atLeast(attempt);
    if (atLeast != null && atLeast.lacksMark()) {
      atLeast.announces = true;
      mark(attempt, atLeast);
    } else if (!attempts.isEvicted(attempt)) {
      effects.add(
          new NotifyEngine(
              new SessionNotification.HoldGranted(
                  name, id, attempt.token(), attempt.tokens, attempt.isWanted(), false)));
    }
  }

  // ---- At-least times ----

  private void mark(ZooKeeperAttempt attempt, AtLeastHold atLeast) {
    if (!atLeast.isMarking) {
      atLeast.isMarking = true;
      marking.add(atLeast);
      effects.add(new ReadNodes(new ReadPurpose.Marking(attempt), List.of(node(attempt), path)));
    }
  }

  /** Makes marks whose requests got no answer. */
  void markAgain() {
    for (ZooKeeperAttempt attempt : attempts.unmarked()) {
      AtLeastHold atLeast = attempts.atLeast(attempt);
      if (atLeast != null && attempt.name.equals(name) && !attempt.leaving) {
        mark(attempt, atLeast);
      }
    }
  }

  /** The node of a holder whose at-least time starts was read, and the container. */
  void markingRead(ReadPurpose.Marking purpose, @Nullable List<NodeContent> nodeContents) {
    ZooKeeperAttempt attempt = purpose.attempt();
    AtLeastHold atLeast = attempts.atLeast(attempt);
    if (atLeast == null) {
      return;
    } else if (nodeContents == null) {
      markingFailed(atLeast);
    } else if (!isOurs(nodeContents.get(0), attempt)) {
      removedWhileMarking(attempt, atLeast);
    } else {
      AtLeastMark replaced = atLeast.mark();
      AtLeastMark mark = atLeast.send(attempt, attempts);
      effects.add(new KeepShut(attempt, nodeContents.get(0), nodeContents.get(1), mark, replaced));
    }
  }

  /** The mark of an at-least time was made, or could not be. */
  void keptShut(KeepShut keeping, Code code) {
    ZooKeeperAttempt attempt = keeping.attempt();
    AtLeastHold atLeast = attempts.atLeast(attempt);
    if (code == Code.SESSIONEXPIRED) {
      effects.add(new EndSession("the ZooKeeper session expired"));
    } else if (atLeast == null) {
      return;
    } else if (code == Code.OK || code == Code.NODEEXISTS) {
      // The latter: by an earlier transaction, whose answer was lost.
      session.atLeastLeft(keeping.mark());
      atLeast.made(keeping.mark());
      stopMarking(atLeast);
      List<PendingRequest> owed = List.copyOf(atLeast.owed);
      atLeast.owed.clear();
      // Some were answered meanwhile: that the attempt waits, or in doubt.
      atLeast.announces |= owed.stream().anyMatch(PendingRequest::isAnswered);
      owed.forEach(request -> answerGranted(request, attempt));
      if (atLeast.announces && !attempt.leaving) {
        announce(attempt);
      }
      atLeast.announces = atLeast.lacksMark() && atLeast.announces;
    } else if (code == Code.BADVERSION) {
      // The node was rewritten since it was read.
      stopMarking(atLeast);
      mark(attempt, atLeast);
    } else if (code == Code.NONODE && keeping.replaced() != null) {
      // The mark to replace went with an earlier transaction without an answer, or the node is
      // gone, which the next read shows.
      atLeast.forgetMade();
      stopMarking(atLeast);
      mark(attempt, atLeast);
    } else if (code == Code.NONODE) {
      removedWhileMarking(attempt, atLeast);
    } else {
      markingFailed(atLeast);
    }
  }

  private void stopMarking(AtLeastHold atLeast) {
    atLeast.isMarking = false;
    marking.remove(atLeast);
  }

  private void markingFailed(AtLeastHold atLeast) {
    stopMarking(atLeast);
    List<PendingRequest> owed = List.copyOf(atLeast.owed);
    atLeast.owed.clear();
    owed.forEach(request -> fail(request, true, "the connection was lost."));
  }

  private void removedWhileMarking(ZooKeeperAttempt attempt, AtLeastHold atLeast) {
    stopMarking(atLeast);
    atLeast.owed.forEach(this::refuseAsRemoved);
    atLeast.owed.clear();
    if (!attempt.leaving) {
      vanish(attempt);
    }
  }

  /** Whether the request is answered once a mark was made. */
  boolean isOwed(PendingRequest request) {
    return marking.stream().anyMatch(atLeast -> atLeast.owed.contains(request));
  }

  /** Requests that are answered once a mark was made. */
  List<PendingRequest> owed() {
    return marking.stream().flatMap(atLeast -> atLeast.owed.stream()).toList();
  }

  /** Whether the hold's end leaves the lock shut, as far as this process knows. */
  boolean leavesShut(ZooKeeperAttempt attempt) {
    AtLeastHold atLeast = attempts.atLeast(attempt);
    if (atLeast == null
        || atLeast.sent().isEmpty()
        || atLeast.isTakenBack()
        || attempts.isEvicted(attempt)) {
      return false;
    }
    AtLeastMark mark = atLeast.mark();
    return mark == null || atLeast.lacksMark() || !session.atLeastLeft(mark).isZero();
  }

  /**
   * The marks that change with the end of a hold.
   *
   * @param last the last number that holds; the hold's own if no other holds
   */
  MarkChange atEnd(ZooKeeperAttempt attempt, int last) {
    AtLeastHold atLeast = attempts.atLeast(attempt);
    if (atLeast == null) {
      return MarkChange.NONE;
    }
    AtLeastMark mark = atLeast.mark();
    if (!leavesShut(attempt)) {
      return new MarkChange(atLeast.sent().stream().map(this::path).toList(), null);
    } else if (mark != null && !atLeast.lacksMark() && last - attempt.seq > 0) {
      return new MarkChange(List.of(path(mark)), path(mark.upTo(last)));
    }
    return MarkChange.NONE;
  }

  private String path(AtLeastMark mark) {
    return path + "/" + mark.name();
  }

  void leaveQueue(ZooKeeperAttempt attempt) {
    waiting.remove(attempt.number);
    watches.leaves(attempt);
  }

  /** Another client removed the node; the current request reports that. */
  void forget(ZooKeeperAttempt attempt) {
    leaveQueue(attempt);
    end(attempt, attempt.ifGone());
  }

  /** Another client removed the node. */
  void vanish(ZooKeeperAttempt attempt) {
    forget(attempt);
    effects.add(
        new NotifyEngine(
            new SessionNotification.HoldEnded(name, attempts.id(attempt), EndReason.UNKNOWN)));
  }

  void end(ZooKeeperAttempt attempt, AttemptEnd attemptEnd) {
    if (!attempts.isEvicted(attempt)) {
      effects.add(new ForgetNotifications(attempts.id(attempt)));
    }
    AtLeastHold atLeast = attempts.atLeast(attempt);
    if (atLeast != null) {
      stopMarking(atLeast);
      atLeast.owed.forEach(this::refuseAsRemoved);
    }
    attempts.marks(attempt).forEach(mark -> effects.add(new RemoveMark(path + "/" + mark)));
    attempts.end(attempt, attemptEnd);
  }

  /** Whether a node is that of an attempt of this very session. */
  boolean isOurs(NodeContent nodeContent, ZooKeeperAttempt attempt) {
    Stat stat = nodeContent.stat();
    NodeData.AttemptData attemptData = NodeData.attempt(nodeContent.data());
    return stat != null
        && attemptData != null
        && stat.getEphemeralOwner() == session.zooKeeperSession()
        && attemptData.attempt().equals(attempts.id(attempt));
  }

  /** Removes the node of the current request's attempt, which then counts as never made. */
  void withdraw(PendingRequest request, ZooKeeperAttempt attempt, WithdrawalReason reason) {
    leaveQueue(attempt);
    attempt.leaving = true;
    effects.add(new RemoveNode(attempt, Urgency.NEXT, new RemovalCause.Withdrawn(request, reason)));
  }

  /** The longest time after which a waiter should poll. */
  Duration retryAfter() {
    return session.spec().ttl().dividedBy(2);
  }

  /** The same for a lock that is shut for that time, or is not. */
  Duration retryAfter(Duration shutFor) {
    Duration whole = retryAfter();
    Duration soon = shutFor.plusMillis(1);
    return shutFor.isZero() || soon.compareTo(whole) > 0 ? whole : soon;
  }

  void adjust(PendingRequest request, Request.Adjust adjust, @Nullable ZooKeeperAttempt known) {
    AttemptId attempt = adjust.attempt();
    if (known == null
        || known.state() != NodeState.HELD
        || known.leaving
        || attempts.isEvicted(known)) {
      answer(request, Refusals.notHeld(attempt, name));
    } else if (known.capacity() != adjust.mode().capacity()) {
      answer(
          request,
          Refusals.capacityDiffers(attempt, name, known.capacity(), adjust.mode().capacity()));
    } else if (adjust.mode().weight() > attempts.weight(known)) {
      answer(request, Refusals.cannotWiden(attempt, name));
    } else if (adjust.tokens() > 0 && known.next() >= ZooKeeperAttempt.TOKENS) {
      answer(
          request,
          new Reply.Refused(
              attempt,
              RefusalReason.TOKENS_USED_UP,
              "The hold on lock '" + name + "' has used up its tokens: acquire it anew."));
    } else if (adjust.mode().weight() == attempts.weight(known) && attempts.isSureOfWeight(known)) {
      adjusted(request, adjust, known);
    } else if (!session.isUp()) {
      fail(request, false, "the connection is down.");
    } else {
      current = request;
      readForNarrowing(request, known);
    }
  }

  private void readForNarrowing(PendingRequest request, ZooKeeperAttempt attempt) {
    effects.add(new ReadNodes(new ReadPurpose.Narrowing(request, attempt), List.of(node(attempt))));
  }

  private void adjusted(PendingRequest request, Request.Adjust adjust, ZooKeeperAttempt attempt) {
    if (adjust.tokens() > 0) {
      int next = attempt.next();
      attempt.startAt(next);
      attempt.tokens = Math.min(adjust.tokens(), ZooKeeperAttempt.TOKENS - next);
    }
    Duration atLeast = adjust.terms().atLeast();
    if (atLeast != null) {
      attempts.startAtLeast(attempt, atLeast);
    }
    answerGranted(request, attempt);
  }

  /** The node of a holder that is to take less was read. */
  void narrowingRead(ReadPurpose.Narrowing narrowing, @Nullable List<NodeContent> nodeContents) {
    PendingRequest request = narrowing.request();
    ZooKeeperAttempt attempt = narrowing.attempt();
    if (nodeContents == null) {
      fail(request, false, "the connection was lost.");
      finish();
    } else if (!isOurs(nodeContents.get(0), attempt)) {
      refuseAsNotHeld(request, attempt);
    } else {
      int weight = ((Request.Adjust) request.request).mode().weight();
      attempts.narrowing(attempt, weight);
      effects.add(
          new NarrowNode(
              request,
              attempt,
              nodeContents.get(0),
              path + "/" + LockQueue.narrowed(weight, attempt.seq)));
    }
  }

  /** A holder was marked to take less from now on, or could not be. */
  void narrowed(NarrowNode narrowing, Code code) {
    PendingRequest request = narrowing.request();
    ZooKeeperAttempt attempt = narrowing.attempt();
    switch (code) {
      // An earlier request, whose answer was lost, has made the mark.
      case OK, NODEEXISTS -> {
        attempts.narrowed(attempt);
        adjusted(request, (Request.Adjust) request.request, attempt);
        finish();
      }
      // The node was rewritten since it was read.
      case BADVERSION -> readForNarrowing(request, attempt);
      case NONODE -> refuseAsNotHeld(request, attempt);
      case SESSIONEXPIRED -> effects.add(new EndSession("the ZooKeeper session expired"));
      default -> {
        fail(request, true, "the servers answered " + code + ".");
        finish();
      }
    }
  }

  private void refuseAsNotHeld(PendingRequest request, ZooKeeperAttempt attempt) {
    forget(attempt);
    answer(request, Refusals.notHeld(request.attempt(), name));
    finish();
  }

  /** Whether a request of this attempt is in flight or pending. */
  boolean concerns(AttemptId attempt) {
    return (current != null && current.attempt().equals(attempt))
        || pending.stream().anyMatch(request -> request.attempt().equals(attempt));
  }
}
