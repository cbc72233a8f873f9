package io.mortise.zookeeper.internal.node;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/** Reads of many nodes in few packets. */
public final class MultiRead {
  /** So many small nodes stay far below the limit of a packet, one megabyte. */
  private static final int CHUNK = 500;

  private MultiRead() {}

  /** A node as it was read. */
  public static final class NodeContent {
    public static final NodeContent NONE = new NodeContent(null, null);

    private final byte @Nullable [] data;
    private final @Nullable Stat stat;

    public NodeContent(byte @Nullable [] data, @Nullable Stat stat) {
      this.data = data;
      this.stat = stat;
    }

    public byte @Nullable [] data() {
      return data;
    }

    /** Null if there is no such node. */
    public @Nullable Stat stat() {
      return stat;
    }
  }

  /**
   * Reads nodes.
   *
   * @param then called on the event thread, with a node for each path, or null if there was no
   *     answer
   */
  public static void nodes(
      ZooKeeper client, List<String> paths, Consumer<@Nullable List<NodeContent>> then) {
    nodes(client, paths, new ArrayList<>(), then);
  }

  /**
   * Reads which nodes stand in a queue, and one of them.
   *
   * @param then called on the event thread, or given null if there was no answer or is no queue
   */
  public static void queue(
      ZooKeeper client,
      String lock,
      String node,
      BiConsumer<@Nullable List<String>, NodeContent> then) {
    client.multi(
        List.of(Op.getChildren(lock), Op.getData(node)),
        (rc, path, context, results) -> {
          boolean answered = results != null && results.size() == 2;
          if (answered && results.get(0) instanceof OpResult.GetChildrenResult listed) {
            then.accept(
                listed.getChildren(),
                results.get(1) instanceof OpResult.GetDataResult read
                    ? new NodeContent(read.getData(), read.getStat())
                    : NodeContent.NONE);
          } else {
            then.accept(null, NodeContent.NONE);
          }
        },
        null);
  }

  private static void nodes(
      ZooKeeper client,
      List<String> paths,
      List<NodeContent> found,
      Consumer<@Nullable List<NodeContent>> then) {
    if (found.size() == paths.size()) {
      then.accept(found);
      return;
    }
    List<Op> ops =
        paths.subList(found.size(), Math.min(paths.size(), found.size() + CHUNK)).stream()
            .map(Op::getData)
            .toList();
    client.multi(
        ops,
        (rc, path, context, results) -> {
          if (results == null || results.size() != ops.size()) {
            then.accept(null);
            return;
          }
          for (OpResult result : results) {
            found.add(
                result instanceof OpResult.GetDataResult read
                    ? new NodeContent(read.getData(), read.getStat())
                    : NodeContent.NONE);
          }
          nodes(client, paths, found, then);
        },
        null);
  }
}
