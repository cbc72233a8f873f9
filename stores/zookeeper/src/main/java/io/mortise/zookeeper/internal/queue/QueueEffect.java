package io.mortise.zookeeper.internal.queue;

import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.SessionNotification;
import io.mortise.zookeeper.internal.node.LockQueue;
import io.mortise.zookeeper.internal.node.MultiRead.NodeContent;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link LockQueueState} wants done: a request to the server, or a message to the engine.
 * Effects are executed in the order of their list. The answer to a request comes back as a
 * transition of the queue that wanted it.
 */
public sealed interface QueueEffect {
  /** Has it done by the executor, on behalf of that queue. */
  void execute(LockQueueState queue, Executor executor);

  /** One method for each effect. */
  interface Executor {
    void create(LockQueueState queue, CreateNode effect);

    void remove(LockQueueState queue, RemoveNode effect);

    void rewrite(LockQueueState queue, RewriteNode effect);

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
   * @param request the current request, which is answered by what becomes of it
   * @param mayTakeOver whether the node of this session's last hold will do, if its removal was not
   *     sent yet
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
  record RemoveNode(ZooKeeperAttempt attempt, Urgency urgency, RemovalCause cause)
      implements QueueEffect {
    @Override
    public void execute(LockQueueState queue, Executor executor) {
      executor.remove(queue, this);
    }
  }

  /** How soon a node is to be removed. */
  enum Urgency {
    /** A waiter is known: before anything else. */
    HANDOFF,
    /** As {@link #HANDOFF}, with a mark for the next of many waiters that this node held. */
    MARKED_HANDOFF,
    /** With the next transaction. */
    NEXT,
    /** Nobody waits for it: it may gather with others. */
    LATER,
    /** As {@link #LATER}; the session's next attempt may take the node over. */
    LATER_OR_TAKEN_OVER
  }

  /** Why a node is removed, and what follows. */
  sealed interface RemovalCause {
    /** The engine ends the attempt. */
    record AttemptEnded(PendingRequest request) implements RemovalCause {}

    /** The attempt's end, or another capacity, was found out when it was in doubt. */
    record Leftover() implements RemovalCause {}

    /** The attempt does not wait, and the current request says so. */
    record Withdrawn(PendingRequest request, WithdrawalReason reason) implements RemovalCause {}
  }

  /** Why an attempt does not wait. */
  sealed interface WithdrawalReason {
    /** The numbers of the queue come to an end. */
    record NumbersUsedUp() implements WithdrawalReason {}

    /** The lock exists with another capacity. */
    record CapacityDiffers(int present) implements WithdrawalReason {}

    /** The attempt only tries, and another one holds. */
    record HeldByOther(Reply.@Nullable Holder holder) implements WithdrawalReason {}
  }

  /** Writes to the node of an attempt what it holds already, for those who watch it. */
  record RewriteNode(ZooKeeperAttempt attempt, NodeContent content) implements QueueEffect {
    @Override
    public void execute(LockQueueState queue, Executor executor) {
      executor.rewrite(queue, this);
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

  /** What nodes are read for. */
  sealed interface ReadPurpose {
    /** The container and the attempt's new node: whether that is the only one, after all. */
    record Placing(PendingRequest request, ZooKeeperAttempt attempt, String path)
        implements ReadPurpose {}

    /** The container and the attempt's node, for its current request. */
    record Polling(PendingRequest request, ZooKeeperAttempt attempt) implements ReadPurpose {}

    /** The container and the nodes of many attempts in a long queue. */
    record PollingMany() implements ReadPurpose {}

    /** The attempt's node, the container, and the node that it has watched. */
    record Confirming(ZooKeeperAttempt attempt) implements ReadPurpose {}

    /** The nodes of the first holders, and of our attempts that hold by now. */
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
   * Reads and watches the node that attempts wait for. Answered by {@link
   * LockQueueState#onWatched}.
   *
   * @param arrival the attempt that has just come behind that node, and is to be answered
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
   * @param behind how many nodes stand behind it, if that is known
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
   * Counts the nodes behind the first waiter's, and watches whether one more comes. Answered by
   * {@link LockQueueState#onSuccessorsWatched}.
   */
  record WatchSuccessors(ZooKeeperAttempt attempt, int connection) implements QueueEffect {
    @Override
    public void execute(LockQueueState queue, Executor executor) {
      executor.watchSuccessors(queue, this);
    }
  }

  /**
   * Reads the whole queue, with all that was executed before. Answered by {@link
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

  /** Tells holders of other sessions. Answered by {@link LockQueueState#onNotesLeft}. */
  record LeaveNotes(List<AttemptId> holders, NotesPurpose purpose) implements QueueEffect {
    @Override
    public void execute(LockQueueState queue, Executor executor) {
      executor.leaveNotes(queue, this);
    }
  }

  /** What goes on once holders have been told. */
  sealed interface NotesPurpose {
    /** A request is answered: its attempt stands right behind the holder. */
    record Queueing(PendingRequest request, ZooKeeperAttempt attempt, Reply.Holder holder)
        implements NotesPurpose {}

    /** The look is concluded. */
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

  /** Tells the engine what it has not asked for. */
  record NotifyEngine(SessionNotification notification) implements QueueEffect {
    @Override
    public void execute(LockQueueState queue, Executor executor) {
      executor.tell(this);
    }
  }

  /** The attempt has ended: the engine need not be told any more of what was about it. */
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
