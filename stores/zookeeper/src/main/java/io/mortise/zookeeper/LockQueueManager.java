package io.mortise.zookeeper;

import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.time.Ticker;
import io.mortise.support.internal.session.Refusals;
import io.mortise.zookeeper.internal.node.LockQueue;
import io.mortise.zookeeper.internal.node.NodeLayout;
import io.mortise.zookeeper.internal.queue.CreateResult;
import io.mortise.zookeeper.internal.queue.LockQueueState;
import io.mortise.zookeeper.internal.queue.PendingRequest;
import io.mortise.zookeeper.internal.queue.QueueEffect;
import io.mortise.zookeeper.internal.queue.QueueEffect.AnswerRequest;
import io.mortise.zookeeper.internal.queue.QueueEffect.CreateNode;
import io.mortise.zookeeper.internal.queue.QueueEffect.EndForeign;
import io.mortise.zookeeper.internal.queue.QueueEffect.EndSession;
import io.mortise.zookeeper.internal.queue.QueueEffect.ForgetNotifications;
import io.mortise.zookeeper.internal.queue.QueueEffect.KeepShut;
import io.mortise.zookeeper.internal.queue.QueueEffect.LeaveNotes;
import io.mortise.zookeeper.internal.queue.QueueEffect.ListHolders;
import io.mortise.zookeeper.internal.queue.QueueEffect.ListNodes;
import io.mortise.zookeeper.internal.queue.QueueEffect.NarrowNode;
import io.mortise.zookeeper.internal.queue.QueueEffect.NotifyEngine;
import io.mortise.zookeeper.internal.queue.QueueEffect.OpenLock;
import io.mortise.zookeeper.internal.queue.QueueEffect.ReadNodes;
import io.mortise.zookeeper.internal.queue.QueueEffect.ReadQueue;
import io.mortise.zookeeper.internal.queue.QueueEffect.RemoveMark;
import io.mortise.zookeeper.internal.queue.QueueEffect.RemoveNode;
import io.mortise.zookeeper.internal.queue.QueueEffect.RewriteNode;
import io.mortise.zookeeper.internal.queue.QueueEffect.WatchNode;
import io.mortise.zookeeper.internal.queue.QueueEffect.WatchOwnNode;
import io.mortise.zookeeper.internal.queue.QueueEffect.WatchSuccessors;
import io.mortise.zookeeper.internal.queue.SessionAttempts;
import io.mortise.zookeeper.internal.queue.SoleUserCache;
import io.mortise.zookeeper.internal.queue.ZooKeeperAttempt;
import io.mortise.zookeeper.internal.queue.ZooKeeperAttempt.NodeState;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.jspecify.annotations.Nullable;

/**
 * The queues of a session: routes requests, events and answers to the {@link LockQueueState} of
 * their lock, and executes the effects of its transitions. Reads go through {@link QueueReader},
 * creations and removals through {@link NodeWriter}, notes through {@link ContentionNotes}. Guarded
 * by the session.
 *
 * <p>Effects are executed in order, one transition's after those of the previous one: an effect's
 * immediate consequences wait until earlier effects are done.
 */
final class LockQueueManager implements QueueEffect.Executor {
  private static final long RECOVERY_PAUSE_NANOS = 20_000_000;
  private static final long REMOVAL_PAUSE_NANOS = 500_000_000;

  private final SessionCore core;
  private final Ticker ticker;
  private final NodeWriter nodeWriter;
  private final SilentSessions silentSessions;
  private final QueueReader queueReader;
  private final ContentionNotes contentionNotes;
  private final AtLeastNodes atLeastNodes;
  private final SoleUserCache soleUserCache = new SoleUserCache();
  private final SessionAttempts attempts;
  private final Map<String, LockQueueState> queues = new HashMap<>();
  private final ArrayDeque<DueEffect> due = new ArrayDeque<>();
  private boolean executing;

  /** An effect that has not been executed yet. */
  private record DueEffect(LockQueueState queue, QueueEffect effect) {}

  LockQueueManager(SessionCore core, Ticker ticker, NodeWriter nodeWriter) {
    this.core = core;
    this.ticker = ticker;
    this.nodeWriter = nodeWriter;
    this.silentSessions = new SilentSessions(core, ticker, queues::get, this::sessionEnded);
    this.queueReader = new QueueReader(core, silentSessions, this::step);
    this.contentionNotes = new ContentionNotes(core);
    this.atLeastNodes = new AtLeastNodes(core);
    this.attempts = new SessionAttempts(core.id());
  }

  /** Whether no read of a queue is in flight that may bring a notification. */
  boolean isSettled() {
    return attempts.isSettled();
  }

  private LockQueueState queue(LockName name) {
    return queues.computeIfAbsent(
        core.layout().lock(name),
        path -> new LockQueueState(core, attempts, soleUserCache, name, path));
  }

  // ---- Transitions ----

  /** Takes the guard, and runs a transition unless the session is over. */
  private void step(LockQueueState queue, Function<LockQueueState, List<QueueEffect>> transition) {
    core.guard()
        .run(
            () -> {
              if (!core.isOver()) {
                execute(queue, transition.apply(queue));
              }
            });
  }

  private void execute(LockQueueState queue, List<QueueEffect> effects) {
    if (queue.isIdle()) {
      queues.remove(queue.path(), queue);
    }
    effects.forEach(effect -> due.add(new DueEffect(queue, effect)));
    if (executing) {
      return;
    }
    executing = true;
    try {
      for (DueEffect next = due.poll(); next != null; next = due.poll()) {
        next.effect().execute(next.queue(), this);
      }
    } finally {
      executing = false;
    }
    core.settled();
  }

  // ---- Requests ----

  void submit(Request request, boolean later, Consumer<Reply> sink) {
    PendingRequest pendingRequest = new PendingRequest(request, ticker.nanos(), later, sink);
    Reply refusal = core.store().profile().refusal(request).orElse(null);
    if (refusal != null) {
      answerOnce(pendingRequest, refusal);
    } else if (!core.isOpen()) {
      refuseAsOver(pendingRequest);
    } else {
      LockQueueState queue = queue(request.name());
      execute(queue, queue.onSubmit(pendingRequest));
    }
  }

  /** The session is not alive yet, or no longer. */
  private void refuseAsOver(PendingRequest request) {
    AttemptId attempt = request.attempt();
    if (!request.isAbandon()) {
      answerOnce(request, Refusals.sessionGone(attempt));
    } else if (attempts.isOurs(attempt)) {
      answerOnce(request, attempts.absent(attempt, request.request.name()));
    } else {
      endForeign(request, ended -> answerForeign(request, ended));
    }
  }

  private void answerOnce(PendingRequest request, Reply reply) {
    if (request.markAnswered()) {
      core.guard().afterUnlock(() -> request.deliver(reply));
    }
  }

  private void answerForeign(PendingRequest request, Reply.@Nullable Ended ended) {
    answerOnce(
        request,
        ended != null
            ? ended
            : request.unanswered(core.display(), true, "the connection was lost."));
  }

  /** Ends it under the guard; the callback is given null if there was no answer. */
  private void endForeign(PendingRequest request, Consumer<Reply.@Nullable Ended> then) {
    core.store()
        .inspector()
        .end(request.request.name(), request.attempt())
        .whenComplete(
            (ended, failure) ->
                core.guard().run(() -> then.accept(failure == null ? ended : null)));
  }

  /** Fails requests that have waited for too long. */
  void expire(long now, long requestTimeout) {
    for (LockQueueState queue : List.copyOf(queues.values())) {
      execute(queue, queue.onTime(now, requestTimeout));
    }
  }

  // ---- Writes ----

  @Override
  public void create(LockQueueState queue, CreateNode effect) {
    ZooKeeperAttempt attempt = effect.attempt();
    Consumer<CreateResult> then = result -> step(queue, to -> to.onCreated(effect, result));
    ZooKeeperAttempt previous = effect.mayTakeOver() ? nodeWriter.leaving(queue.path()) : null;
    if (previous != null && attempt.mayTakeOver(previous)) {
      // Also if the attempt is found again by its node: the node dates from before these tokens.
      attempt.startAt(previous.next());
      nodeWriter.takeOver(queue.path(), attempt, effect.data(), then);
      return;
    }
    boolean reads = !soleUserCache.expects(queue.path(), attempt);
    if (soleUserCache.wantsWatch(queue.path(), attempt) && core.connection().isOwn()) {
      queueReader.watchContainer(queue.path(), () -> soleUserCache.watches(queue.path()));
    }
    nodeWriter.create(queue.path(), attempt, effect.data(), reads, then);
  }

  @Override
  public void remove(LockQueueState queue, RemoveNode effect) {
    String node = queue.node(effect.attempt());
    NodeOperation.ReleaseListener then =
        (code, takenOver) -> step(queue, to -> to.onRemoved(effect, code, takenOver));
    if (!effect.marks().isNone()) {
      atLeastNodes.end(node, effect.marks(), code -> then.accept(code, false));
      return;
    }
    switch (effect.urgency()) {
      case HANDOFF -> nodeWriter.removeForHandoff(node, false, code -> then.accept(code, false));
      case MARKED_HANDOFF ->
          nodeWriter.removeForHandoff(node, true, code -> then.accept(code, false));
      case NEXT -> nodeWriter.delete(node, false, code -> then.accept(code, false));
      case LATER -> nodeWriter.delete(node, true, code -> then.accept(code, false));
      case LATER_OR_TAKEN_OVER -> nodeWriter.release(queue.path(), node, effect.attempt(), then);
    }
  }

  @Override
  public void rewrite(LockQueueState queue, RewriteNode effect) {
    core.nodes()
        .write(queue.node(effect.attempt()), effect.content().data(), -1, (code, stat) -> {});
  }

  @Override
  public void narrow(LockQueueState queue, NarrowNode effect) {
    byte[] data = effect.content().data();
    core.nodes()
        .multi(
            List.of(
                Op.setData(queue.node(effect.attempt()), data, effect.content().version()),
                core.nodes().createOp(effect.mark(), new byte[0], CreateMode.EPHEMERAL)),
            (code, results) -> step(queue, to -> to.onNarrowed(effect, code)));
  }

  @Override
  public void keepShut(LockQueueState queue, KeepShut effect) {
    atLeastNodes.keepShut(
        queue.node(effect.attempt()),
        queue.path(),
        effect,
        code -> step(queue, to -> to.onKeptShut(effect, code)));
  }

  @Override
  public void open(LockQueueState queue, OpenLock effect) {
    atLeastNodes.open(
        queue.path(), effect.marks(), code -> step(queue, to -> to.onOpened(effect, code)));
  }

  @Override
  public void listHolders(LockQueueState queue, ListHolders effect) {
    core.nodes()
        .children(
            queue.path(),
            null,
            (code, children) -> step(queue, to -> to.onHoldersListed(effect, children)));
  }

  /** Again and again until that is answered: a mark would keep the container. */
  @Override
  public void removeMark(RemoveMark effect) {
    core.nodes()
        .delete(
            effect.path(),
            (code, deleted) -> {
              if (code == Code.CONNECTIONLOSS && !core.isOver()) {
                later(REMOVAL_PAUSE_NANOS, () -> removeMark(effect));
              }
            });
  }

  @Override
  public void removeContainer(LockQueueState queue) {
    core.nodes().delete(queue.path(), (code, deleted) -> {});
  }

  // ---- Reads ----

  @Override
  public void list(LockQueueState queue, ListNodes effect) {
    queueReader.list(queue, effect);
  }

  @Override
  public void read(LockQueueState queue, ReadNodes effect) {
    queueReader.read(queue, effect);
  }

  @Override
  public void readQueue(LockQueueState queue, ReadQueue effect) {
    queueReader.readQueue(queue, effect);
  }

  @Override
  public void watch(LockQueueState queue, WatchNode effect) {
    queueReader.watch(queue, effect);
  }

  @Override
  public void watchOwn(LockQueueState queue, WatchOwnNode effect) {
    queueReader.watchOwn(queue, effect);
  }

  @Override
  public void watchSuccessors(LockQueueState queue, WatchSuccessors effect) {
    queueReader.watchSuccessors(queue, effect);
  }

  @Override
  public void readIndex(LockQueueState queue) {
    queueReader.readIndex(queue);
  }

  @Override
  public void recoverLater(LockQueueState queue) {
    core.store()
        .timer()
        .in(
            RECOVERY_PAUSE_NANOS,
            () ->
                core.guard()
                    .run(
                        () -> {
                          if (!core.isOver()) {
                            // The queue may have become idle and been replaced.
                            LockQueueState present = queue(queue.name());
                            execute(present, present.onRecoveryDue());
                          }
                        }));
  }

  // ---- Others ----

  @Override
  public void leaveNotes(LockQueueState queue, LeaveNotes effect) {
    contentionNotes.leave(
        effect.holders(), () -> step(queue, to -> to.onNotesLeft(effect.purpose())));
  }

  @Override
  public void endForeign(LockQueueState queue, EndForeign effect) {
    endForeign(
        effect.request(),
        ended -> {
          if (core.isOver()) {
            answerForeign(effect.request(), ended);
          } else {
            step(queue, to -> to.onForeignEnded(effect.request(), ended));
          }
        });
  }

  @Override
  public void answer(AnswerRequest effect) {
    core.guard().afterUnlock(() -> effect.request().deliver(effect.reply()));
  }

  @Override
  public void tell(NotifyEngine effect) {
    core.tell(effect.notification());
  }

  @Override
  public void forgetNotifications(ForgetNotifications effect) {
    core.inbox().forget(effect.attempt());
  }

  @Override
  public void endSession(EndSession effect) {
    core.renewal().over(effect.why());
  }

  // ---- Silent sessions ----

  private void sessionEnded(String lock, SessionId session, Set<Integer> seqs) {
    LockQueueState queue = queues.get(lock);
    if (queue != null) {
      step(queue, to -> to.onSessionEnded(session, seqs));
    }
  }

  // ---- Connection events ----

  /** A waiter has left a note for this holder. */
  void wanted(AttemptId id) {
    attempts.want(id).ifPresent(core::tell);
  }

  /**
   * An operator ends this attempt, and has removed its node if it should be free at once. Else a
   * holder has a TTL in which to let go.
   */
  void evicted(AttemptId id) {
    attempts
        .evict(id)
        .ifPresent(
            attempt -> {
              core.tell(
                  new SessionNotification.HoldEnded(attempt.name, id, Reply.EndReason.EVICTED));
              if (attempt.state() == NodeState.HELD) {
                later(core.spec().ttl().toNanos(), () -> remove(attempt.name, id));
              } else {
                remove(attempt.name, id);
              }
            });
  }

  /** Removes its node, again and again until that is answered. */
  private void remove(LockName name, AttemptId id) {
    submit(
        new Request.Abandon(name, id),
        false,
        reply -> {
          if (reply instanceof Reply.Failed) {
            later(REMOVAL_PAUSE_NANOS, () -> remove(name, id));
          }
        });
  }

  private void later(long nanos, Runnable step) {
    core.store().timer().in(nanos, () -> core.guard().run(step));
  }

  void changed(EventType type, String path) {
    silentSessions.changed(path);
    soleUserCache.changed(type, path);
    LockQueueState whole = queues.get(path);
    if (whole != null) {
      if (type == EventType.NodeChildrenChanged) {
        execute(whole, whole.onChildrenChanged());
      }
      return;
    }
    LockQueueState queue = queues.get(NodeLayout.parent(path));
    if (queue != null) {
      int seq = LockQueue.QueueNode.parse(NodeLayout.last(path)).seq();
      execute(queue, queue.onNodeChanged(type, seq));
    }
  }

  /** Events are missed from now on, or come in another order. */
  void disconnected() {
    soleUserCache.forget();
    for (LockQueueState queue : List.copyOf(queues.values())) {
      execute(queue, queue.onDisconnected());
    }
  }

  /** Looks up attempts in doubt, and events that were missed. */
  void reconnected() {
    soleUserCache.forget();
    Set<LockName> inDoubt = attempts.namesInDoubt();
    inDoubt.forEach(this::queue);
    attempts.namesUnmarked().forEach(this::queue);
    for (LockQueueState queue : List.copyOf(queues.values())) {
      execute(queue, queue.onReconnected(inDoubt.contains(queue.name())));
    }
  }

  // ---- Ending ----

  /** Attempts that may have a node whose number is not known, by the path of their lock. */
  Map<String, Set<AttemptId>> attemptsInDoubt() {
    Map<String, Set<AttemptId>> found = new HashMap<>();
    for (ZooKeeperAttempt attempt : attempts.all()) {
      if (attempt.state() == NodeState.SENT || attempt.state() == NodeState.DOUBT) {
        found
            .computeIfAbsent(core.layout().lock(attempt.name), unused -> new LinkedHashSet<>())
            .add(attempts.id(attempt));
      }
    }
    return found;
  }

  /** The nodes of all other attempts, and the notes that they have left. */
  List<String> nodes() {
    List<String> found = new ArrayList<>(contentionNotes.unread());
    for (ZooKeeperAttempt attempt : attempts.all()) {
      if (attempt.state() == NodeState.WAITING || attempt.state() == NodeState.HELD) {
        String lock = core.layout().lock(attempt.name) + "/";
        found.add(lock + attempt.node());
        attempts.marks(attempt).forEach(mark -> found.add(lock + mark));
      }
    }
    return found;
  }

  /** The session has ended, with all of its nodes. */
  void over() {
    List<PendingRequest> open = new ArrayList<>();
    queues.values().forEach(queue -> open.addAll(queue.unanswered()));
    attempts.over();
    queues.clear();
    open.forEach(this::refuseAsOver);
  }
}
