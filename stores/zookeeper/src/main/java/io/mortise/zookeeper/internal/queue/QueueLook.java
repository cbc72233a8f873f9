package io.mortise.zookeeper.internal.queue;

import io.mortise.spi.Reply;
import io.mortise.zookeeper.internal.node.LockQueue;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One look at a queue, and what it has found so far. Guarded by its session. */
public final class QueueLook {
  /** The request that is answered by it, if one is. */
  final @Nullable PendingRequest requester;

  /** Whether every change of the queue is told from now on. */
  public final boolean watching;

  /** Attempts whose node is not in the queue any more. */
  final List<ZooKeeperAttempt> missing = new ArrayList<>();

  /** Attempts that hold by now, if their nodes are really ours. */
  final List<ZooKeeperAttempt> holding = new ArrayList<>();

  LockQueue queue = LockQueue.of(List.of(), 1);

  /** Whether the first waiter is ours. */
  boolean waits;

  /** How many holders' nodes are read. */
  int heads;

  /** The first holder, if its node says which attempt that is. */
  Reply.@Nullable Holder holder;

  QueueLook(@Nullable PendingRequest requester, boolean watching) {
    this.requester = requester;
    this.watching = watching;
  }
}
