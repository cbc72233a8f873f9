package io.mortise.zookeeper.internal.queue;

import io.mortise.zookeeper.internal.node.AttemptIndex;
import io.mortise.zookeeper.internal.queue.QueueEffect.ReadIndex;
import io.mortise.zookeeper.internal.queue.QueueEffect.RecoverLater;
import io.mortise.zookeeper.internal.queue.QueueEffect.RemovalCause;
import io.mortise.zookeeper.internal.queue.QueueEffect.RemoveNode;
import io.mortise.zookeeper.internal.queue.QueueEffect.Urgency;
import io.mortise.zookeeper.internal.queue.ZooKeeperAttempt.NodeState;
import org.jspecify.annotations.Nullable;

/**
 * Settles attempts whose creation or removal got no answer, by reading the whole queue, which is
 * rare; requests wait for it. Guarded by its session.
 */
final class AttemptRecovery {
  private final LockRequests requests;
  private final QueueScan queueScan;
  private boolean recovering;

  AttemptRecovery(LockRequests requests, QueueScan queueScan) {
    this.requests = requests;
    this.queueScan = queueScan;
  }

  boolean isRecovering() {
    return recovering;
  }

  /** Starts to settle attempts in doubt. Requests wait for it. */
  void recover() {
    if (!recovering) {
      recovering = true;
      requests.effects.add(new ReadIndex());
    }
  }

  /** Takes the whole queue, or null if there was no answer. */
  void indexRead(@Nullable AttemptIndex found) {
    recovering = false;
    if (found != null) {
      requests.attempts.inDoubt(requests.name).forEach(attempt -> resolve(attempt, found));
    } else if (requests.session.isUp()) {
      // A new connection was opened meanwhile, and found this read in flight.
      requests.effects.add(new RecoverLater());
    }
  }

  private void resolve(ZooKeeperAttempt attempt, AttemptIndex found) {
    Integer index = found.index().get(requests.attempts.id(attempt));
    if (index == null && attempt.leaving) {
      requests.end(attempt, attempt.ifReleased());
    } else if (index == null) {
      requests.attempts.discard(attempt);
    } else {
      attempt.seq = found.queue().place(index).seq();
      if (attempt.leaving || found.capacity() != attempt.capacity()) {
        attempt.leaving = true;
        requests.effects.add(
            new RemoveNode(
                attempt,
                Urgency.NEXT,
                new RemovalCause.Leftover(),
                requests.atEnd(attempt, attempt.seq)));
      } else {
        attempt.state(NodeState.WAITING);
        requests.watches.watchesNothing(attempt);
        requests.waiting.put(attempt.number, attempt);
        queueScan.look();
      }
    }
  }
}
