package io.mortise.zookeeper.internal.queue;

import io.mortise.spi.Reply;
import io.mortise.zookeeper.internal.node.LockQueue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One look at a queue, and its results so far. Guarded by its session. */
public final class QueueLook {
  /** The request that it answers, if any. */
  final @Nullable PendingRequest requester;

  /** Whether every change of the queue is reported from now on. */
  public final boolean watching;

  /** Attempts whose node is not in the queue any more. */
  final List<ZooKeeperAttempt> missing = new ArrayList<>();

  /** Attempts that hold by now, if their nodes are really ours. */
  final List<ZooKeeperAttempt> holding = new ArrayList<>();

  LockQueue queue = LockQueue.of(List.of(), 1);

  /**
   * How long at-least times keep the lock shut, as far as this process knows; zero if they do not.
   */
  Duration shutFor = Duration.ZERO;

  /** Whether the lock would be ours if it was not shut. */
  boolean heldUp;

  /** Whether the first waiter is ours. */
  boolean waits;

  /** Number of holders' nodes to read. */
  int heads;

  /** The first holder, if its node names the attempt. */
  Reply.@Nullable Holder holder;

  QueueLook(@Nullable PendingRequest requester, boolean watching) {
    this.requester = requester;
    this.watching = watching;
  }
}
