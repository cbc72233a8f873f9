package io.mortise.zookeeper;

import io.mortise.zookeeper.internal.node.AttemptIndex;
import io.mortise.zookeeper.internal.node.MultiRead;
import io.mortise.zookeeper.internal.node.MultiRead.NodeContent;
import io.mortise.zookeeper.internal.queue.LockQueueState;
import io.mortise.zookeeper.internal.queue.QueueEffect;
import io.mortise.zookeeper.internal.queue.QueueEffect.ListNodes;
import io.mortise.zookeeper.internal.queue.QueueEffect.ReadNodes;
import io.mortise.zookeeper.internal.queue.QueueEffect.ReadPurpose;
import io.mortise.zookeeper.internal.queue.QueueEffect.ReadQueue;
import io.mortise.zookeeper.internal.queue.QueueEffect.WatchNode;
import io.mortise.zookeeper.internal.queue.QueueEffect.WatchOwnNode;
import io.mortise.zookeeper.internal.queue.QueueEffect.WatchSuccessors;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Sends the reads that queues ask for, and passes them the answers as transitions. The connection
 * is the watcher of each watch. Guarded by its session.
 */
final class QueueReader {
  private final SessionCore core;
  private final SilentSessions silentSessions;
  private final TransitionRunner transitionRunner;

  /** Runs a transition of a queue under the guard, unless the session is over. */
  @FunctionalInterface
  interface TransitionRunner {
    void run(LockQueueState queue, Function<LockQueueState, List<QueueEffect>> transition);
  }

  QueueReader(SessionCore core, SilentSessions silentSessions, TransitionRunner transitionRunner) {
    this.core = core;
    this.silentSessions = silentSessions;
    this.transitionRunner = transitionRunner;
  }

  private ZooKeeper client() {
    return core.connection().client();
  }

  void list(LockQueueState queue, ListNodes effect) {
    client()
        .getChildren(
            queue.path(),
            effect.look().watching ? core.connection() : null,
            (int rc, String path, Object context, @Nullable List<String> children) ->
                transitionRunner.run(
                    queue, to -> to.onListed(effect.look(), Code.get(rc), children)),
            null);
  }

  void read(LockQueueState queue, ReadNodes effect) {
    MultiRead.nodes(
        client(),
        effect.paths(),
        nodeContents -> {
          transitionRunner.run(queue, to -> to.onRead(effect.purpose(), nodeContents));
          if (nodeContents != null && effect.purpose() instanceof ReadPurpose.Looking) {
            core.guard()
                .run(() -> silentSessions.looked(queue.path(), effect.paths(), nodeContents));
          }
        });
  }

  void readQueue(LockQueueState queue, ReadQueue effect) {
    MultiRead.queue(
        client(),
        queue.path(),
        queue.node(effect.attempt()),
        (children, own) ->
            transitionRunner.run(queue, to -> to.onQueueRead(effect, children, own)));
  }

  void watch(LockQueueState queue, WatchNode effect) {
    watch(
        queue.path() + "/" + effect.node().node(),
        nodeContent -> {
          transitionRunner.run(queue, to -> to.onWatched(effect, nodeContent));
          core.guard()
              .run(() -> silentSessions.watched(queue.path(), effect.node().seq(), nodeContent));
        });
  }

  void watchOwn(LockQueueState queue, WatchOwnNode effect) {
    watch(
        queue.node(effect.attempt()),
        nodeContent -> transitionRunner.run(queue, to -> to.onOwnWatched(effect, nodeContent)));
  }

  private void watch(String node, Consumer<NodeContent> then) {
    client()
        .getData(
            node,
            core.connection(),
            (int rc, String path, Object context, byte[] data, Stat stat) ->
                then.accept(rc == 0 ? new NodeContent(data, stat) : NodeContent.NONE),
            null);
  }

  void watchSuccessors(LockQueueState queue, WatchSuccessors effect) {
    client()
        .getChildren(
            queue.path(),
            core.connection(),
            (int rc, String path, Object context, @Nullable List<String> children) -> {
              if (children != null) {
                transitionRunner.run(queue, to -> to.onSuccessorsWatched(effect, children.size()));
              }
            },
            null);
  }

  /** Earlier requests are visible, as the server catches up with the leader first. */
  void readIndex(LockQueueState queue) {
    AttemptIndex.read(
        client(), queue.path(), index -> transitionRunner.run(queue, to -> to.onIndexRead(index)));
  }

  /**
   * Watches a container, independently of any queue.
   *
   * @param then run under the guard, if the container exists
   */
  void watchContainer(String lock, Runnable then) {
    client()
        .getData(
            lock,
            core.connection(),
            (rc, path, context, data, stat) -> {
              if (rc == 0) {
                core.guard().run(then);
              }
            },
            null);
  }
}
