package io.mortise.zookeeper.internal.queue;

import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.SessionNotification;
import io.mortise.zookeeper.internal.node.AtLeastMark;
import io.mortise.zookeeper.internal.node.LockQueue;
import io.mortise.zookeeper.internal.node.MultiRead.NodeContent;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * An effect of a {@link LockQueueState}: a request to the server, or a message to the engine.
 * Effects are executed in the order of their list. The answer to a request comes back as a
 * transition of the same queue.
 */
public sealed interface QueueEffect {
  /** Has the executor perform it for that queue. */
  void execute(LockQueueState queue, Executor executor);

  /** One method for each effect. */
  interface Executor {
    void create(LockQueueState queue, CreateNode effect);

    void remove(LockQueueState queue, RemoveNode effect);

    void rewrite(LockQueueState queue, RewriteNode effect);

    void narrow(LockQueueState queue, NarrowNode effect);

    void removeMark(RemoveMark effect);

    void keepShut(LockQueueState queue, KeepShut effect);

    void open(LockQueueState queue, OpenLock effect);

    void listHolders(LockQueueState queue, ListHolders effect);

    void removeContainer(LockQueueState queue);

    void list(LockQueueState queue, ListNodes effect);

    void read(LockQueueState queue, ReadNodes effect);

    void readQueue(LockQueueState queue, ReadQueue effect);

    void watch(LockQueueState queue, WatchNode effect);

    void watchOwn(LockQueueState queue, WatchOwnNode effect);

    void watchSuccessors(LockQueueState queue, WatchSuccessors effect);

    void readIndex(LockQueueState queue);

    void recoverLater(LockQueueState queue);

    void leaveNotes(LockQueueState queue, LeaveNotes effect);

    void endForeign(LockQueueState queue, EndForeign effect);

    void answer(AnswerRequest effect);

    void tell(NotifyEngine effect);

    void forgetNotifications(ForgetNotifications effect);

    void endSession(EndSession effect);
  }

  // ---- Writes ----

  /**
   * Creates the node of an attempt. Answered by {@link LockQueueState#onCreated}.
   *
   * @param request the current request, which the result answers
   * @param mayTakeOver whether it may reuse the node of this session's last hold, if its removal
   *     was not sent yet
   */
  record CreateNode(
      PendingRequest request, ZooKeeperAttempt attempt, String data, boolean mayTakeOver)
      implements QueueEffect {
    @Override
    public void execute(LockQueueState queue, Executor executor) {
      executor.create(queue, this);
    }
  }

  /** Removes the node of an attempt. Answered by {@link LockQueueState#onRemoved}. */
  record RemoveNode(ZooKeeperAttempt attempt, Urgency urgency, RemovalCause cause, MarkChange marks)
      implements QueueEffect {
    RemoveNode(ZooKeeperAttempt attempt, Urgency urgency, RemovalCause cause) {
      this(attempt, urgency, cause, MarkChange.NONE);
    }

    @Override
    public void execute(LockQueueState queue, Executor executor) {
      executor.remove(queue, this);
    }
  }

  /**
   * Nodes that are removed together with that of a hold.
   *
   * @param removed paths; those that are gone already do no harm
   * @param added the mark that is made in their stead, if any
   */
  record MarkChange(List<String> removed, @Nullable String added) {
    static final MarkChange NONE = new MarkChange(List.of(), null);

    public boolean isNone() {
      return removed.isEmpty() && added == null;
    }
  }

  /** How soon a node is to be removed. */
  enum Urgency {
    /** There is a waiter: before all other requests. */
    HANDOFF,
    /** As {@link #HANDOFF}, with a mark for the next of many waiters that this node held. */
    MARKED_HANDOFF,
    /** With the next transaction. */
    NEXT,
    /** There is no waiter: it may gather with others. */
    LATER,
    /** As {@link #LATER}; the session's next attempt may reuse the node. */
    LATER_OR_TAKEN_OVER
  }

  /** The reason for removing a node, and its consequence. */
  sealed interface RemovalCause {
    /** The engine ends the attempt. */
    record AttemptEnded() implements RemovalCause {}

    /** The attempt was in doubt, and turned out to be ended, or to need another capacity. */
    record Leftover() implements RemovalCause {}

    /** The attempt does not wait, and the current request reports that. */
    record Withdrawn(PendingRequest request, WithdrawalReason reason) implements RemovalCause {}
  }

  /** The reason why an attempt does not wait. */
  sealed interface WithdrawalReason {
    /** The queue's sequence numbers run out. */
    record NumbersUsedUp() implements WithdrawalReason {}

    /** The lock exists with another capacity. */
    record CapacityDiffers(int present) implements WithdrawalReason {}

    /** The attempt does not queue, and another one holds, or the lock is shut. */
    record HeldByOther(Reply.@Nullable Holder holder, Duration retryAfter)
        implements WithdrawalReason {}
  }

  /** Rewrites an attempt's node with the same data, to notify its watchers. */
  record RewriteNode(ZooKeeperAttempt attempt, NodeContent content) implements QueueEffect {
    @Override
    public void execute(LockQueueState queue, Executor executor) {
      executor.rewrite(queue, this);
    }
  }

  /**
   * Marks that the current request's attempt takes less from now on, and rewrites its node with the
   * same data, since waiting readers watch that. Answered by {@link LockQueueState#onNarrowed}.
   *
   * @param mark the path of the mark
   */
  record NarrowNode(
      PendingRequest request, ZooKeeperAttempt attempt, NodeContent content, String mark)
      implements QueueEffect {
    @Override
    public void execute(LockQueueState queue, Executor executor) {
      executor.narrow(queue, this);
    }
  }

  /**
   * Makes the mark of an at-least time. The same transaction signs the hold's node and the
   * container, so that no waiter takes the removal of the node for its turn. Answered by {@link
   * LockQueueState#onKeptShut}.
   *
   * @param replaced the mark of an earlier start, which goes with it
   */
  record KeepShut(
      ZooKeeperAttempt attempt,
      NodeContent content,
      NodeContent container,
      AtLeastMark mark,
      @Nullable AtLeastMark replaced)
      implements QueueEffect {
    @Override
    public void execute(LockQueueState queue, Executor executor) {
      executor.keepShut(queue, this);
    }
  }

  /** Removes marks of at-least times that are over. Answered by {@link LockQueueState#onOpened}. */
  record OpenLock(QueueLook look, List<AtLeastMark> marks) implements QueueEffect {
    @Override
    public void execute(LockQueueState queue, Executor executor) {
      executor.open(queue, this);
    }
  }

  /** Lists the queue before a hold ends. Answered by {@link LockQueueState#onHoldersListed}. */
  record ListHolders(ZooKeeperAttempt attempt, Urgency urgency) implements QueueEffect {
    @Override
    public void execute(LockQueueState queue, Executor executor) {
      executor.listHolders(queue, this);
    }
  }

  /** Removes the mark of an attempt without a node. Not answered. */
  record RemoveMark(String path) implements QueueEffect {
    @Override
    public void execute(LockQueueState queue, Executor executor) {
      executor.removeMark(this);
    }
  }

  /** Removes the container of the lock, if it is empty. Not answered. */
  record RemoveContainer() implements QueueEffect {
    @Override
    public void execute(LockQueueState queue, Executor executor) {
      executor.removeContainer(queue);
    }
  }

  // ---- Reads ----

  /** Lists the queue. Answered by {@link LockQueueState#onListed}. */
  record ListNodes(QueueLook look) implements QueueEffect {
    @Override
    public void execute(LockQueueState queue, Executor executor) {
      executor.list(queue, this);
    }
  }

  /** Reads several nodes. Answered by {@link LockQueueState#onRead}. */
  record ReadNodes(ReadPurpose purpose, List<String> paths) implements QueueEffect {
    @Override
    public void execute(LockQueueState queue, Executor executor) {
      executor.read(queue, this);
    }
  }

  /** The purpose of reading nodes. */
  sealed interface ReadPurpose {
    /** The container and the attempt's new node: is that the only one? */
    record Placing(PendingRequest request, ZooKeeperAttempt attempt, String path)
        implements ReadPurpose {}

    /** The container and the attempt's node, for its current request. */
    record Polling(PendingRequest request, ZooKeeperAttempt attempt) implements ReadPurpose {}

    /** The container and the nodes of many attempts in a long queue. */
    record PollingMany() implements ReadPurpose {}

    /** The attempt's node, the container, and the node that it watched. */
    record Confirming(ZooKeeperAttempt attempt) implements ReadPurpose {}

    /** The node of a holder that is to take less from now on. */
    record Narrowing(PendingRequest request, ZooKeeperAttempt attempt) implements ReadPurpose {}

    /** The node of a holder whose at-least time starts, and the container. */
    record Marking(ZooKeeperAttempt attempt) implements ReadPurpose {}

    /** The nodes of the first holders, and of our attempts that should hold by now. */
    record Looking(QueueLook look) implements ReadPurpose {}
  }

  /** Lists the queue and reads one node in it. Answered by {@link LockQueueState#onQueueRead}. */
  record ReadQueue(ZooKeeperAttempt attempt) implements QueueEffect {
    @Override
    public void execute(LockQueueState queue, Executor executor) {
      executor.readQueue(queue, this);
    }
  }

  /**
   * Reads and watches the node before waiting attempts. Answered by {@link
   * LockQueueState#onWatched}.
   *
   * @param arrival the attempt that has just queued behind that node, and needs an answer
   */
  record WatchNode(LockQueue.QueueNode node, @Nullable Arrival arrival) implements QueueEffect {
    @Override
    public void execute(LockQueueState queue, Executor executor) {
      executor.watch(queue, this);
    }
  }

  /** A new attempt behind others. */
  record Arrival(PendingRequest request, ZooKeeperAttempt attempt, int children) {
    /** Whether the one other node is that of the holder. */
    boolean isSecond() {
      return children == 2;
    }
  }

  /**
   * Reads and watches the first waiter's own node. Answered by {@link LockQueueState#onOwnWatched}.
   *
   * @param holder the number of the holder's node
   * @param behind how many nodes are behind it, if known
   * @param connection the connection that the watch is set on
   */
  record WatchOwnNode(ZooKeeperAttempt attempt, int holder, OptionalInt behind, int connection)
      implements QueueEffect {
    @Override
    public void execute(LockQueueState queue, Executor executor) {
      executor.watchOwn(queue, this);
    }
  }

  /**
   * Counts the nodes behind the first waiter's, and watches for another one. Answered by {@link
   * LockQueueState#onSuccessorsWatched}.
   */
  record WatchSuccessors(ZooKeeperAttempt attempt, int connection) implements QueueEffect {
    @Override
    public void execute(LockQueueState queue, Executor executor) {
      executor.watchSuccessors(queue, this);
    }
  }

  /**
   * Reads the whole queue, including all earlier effects. Answered by {@link
   * LockQueueState#onIndexRead}.
   */
  record ReadIndex() implements QueueEffect {
    @Override
    public void execute(LockQueueState queue, Executor executor) {
      executor.readIndex(queue);
    }
  }

  /** Calls {@link LockQueueState#onRecoveryDue} after a pause. */
  record RecoverLater() implements QueueEffect {
    @Override
    public void execute(LockQueueState queue, Executor executor) {
      executor.recoverLater(queue);
    }
  }

  // ---- Other sessions ----

  /**
   * Tells holders in other sessions that their locks are wanted. Answered by {@link
   * LockQueueState#onNotesLeft}.
   */
  record LeaveNotes(List<AttemptId> holders, NotesPurpose purpose) implements QueueEffect {
    @Override
    public void execute(LockQueueState queue, Executor executor) {
      executor.leaveNotes(queue, this);
    }
  }

  /** The next step once holders have been told. */
  sealed interface NotesPurpose {
    /** Answers a request: its attempt is right behind the holder. */
    record Queueing(PendingRequest request, ZooKeeperAttempt attempt, Reply.Holder holder)
        implements NotesPurpose {}

    /** Concludes the look. */
    record Concluding(QueueLook look) implements NotesPurpose {}
  }

  /** Ends an attempt of another session. Answered by {@link LockQueueState#onForeignEnded}. */
  record EndForeign(PendingRequest request) implements QueueEffect {
    @Override
    public void execute(LockQueueState queue, Executor executor) {
      executor.endForeign(queue, this);
    }
  }

  // ---- The engine ----

  /** Answers a request. */
  record AnswerRequest(PendingRequest request, Reply reply) implements QueueEffect {
    @Override
    public void execute(LockQueueState queue, Executor executor) {
      executor.answer(this);
    }
  }

  /** Sends the engine an unrequested notification. */
  record NotifyEngine(SessionNotification notification) implements QueueEffect {
    @Override
    public void execute(LockQueueState queue, Executor executor) {
      executor.tell(this);
    }
  }

  /** The attempt has ended: the engine needs no more notifications about it. */
  record ForgetNotifications(AttemptId attempt) implements QueueEffect {
    @Override
    public void execute(LockQueueState queue, Executor executor) {
      executor.forgetNotifications(this);
    }
  }

  /** The ZooKeeper session has ended. */
  record EndSession(String why) implements QueueEffect {
    @Override
    public void execute(LockQueueState queue, Executor executor) {
      executor.endSession(this);
    }
  }
}
