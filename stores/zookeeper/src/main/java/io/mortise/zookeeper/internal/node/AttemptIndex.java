package io.mortise.zookeeper.internal.node;

import io.mortise.spi.AttemptId;
import io.mortise.zookeeper.internal.node.MultiRead.NodeContent;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

/**
 * A queue with the data of all its nodes, to find an attempt whose node's name is unknown.
 *
 * @param capacity 0 if the lock has no container
 * @param index the place of an attempt in the queue
 */
public record AttemptIndex(int capacity, LockQueue queue, Map<AttemptId, Integer> index) {
  /**
   * Reads a queue as the leader has it, including all effects of this client's earlier requests.
   *
   * @param then called on the event thread; is given null if there was no answer
   */
  public static void read(ZooKeeper client, String lock, Consumer<@Nullable AttemptIndex> then) {
    client.sync(lock, (rc, path, context) -> {}, null);
    client.getChildren(
        lock,
        false,
        (rc, path, context, children) -> {
          if (rc == Code.NONODE.intValue()) {
            then.accept(new AttemptIndex(0, LockQueue.of(List.of(), 1), Map.of()));
          } else if (rc != 0) {
            then.accept(null);
          } else {
            read(client, lock, children, then);
          }
        },
        null);
  }

  private static void read(
      ZooKeeper client, String lock, List<String> children, Consumer<@Nullable AttemptIndex> then) {
    List<String> paths = new ArrayList<>();
    paths.add(lock);
    children.forEach(child -> paths.add(lock + "/" + child));
    MultiRead.nodes(
        client,
        paths,
        nodeContents -> then.accept(nodeContents == null ? null : of(children, nodeContents)));
  }

  private static AttemptIndex of(List<String> children, List<NodeContent> nodeContents) {
    int capacity = NodeData.capacity(nodeContents.get(0).data());
    LockQueue queue = LockQueue.of(children, capacity);
    Map<AttemptId, Integer> index = new HashMap<>();
    for (int i = 0; i < children.size(); i++) {
      NodeData.AttemptData attemptData = NodeData.attempt(nodeContents.get(i + 1).data());
      int at = queue.indexOf(LockQueue.QueueNode.parse(children.get(i)).seq());
      if (attemptData != null && at >= 0) {
        index.put(attemptData.attempt(), at);
      }
    }
    return new AttemptIndex(capacity, queue, index);
  }
}
