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
  /** Small nodes per packet, far below the packet limit of one megabyte. */
  private static final int CHUNK = 500;

  /**
   * The most bytes of paths in one packet. Servers may have a limit of 64 KiB, and close the
   * connection at a larger packet.
   */
  public static final int PACKET_BYTES = 48 * 1024;

  /** Names of nodes per packet, far below its limit too. */
  private static final int NAMES = 10_000;

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

    /** The version to write over; -1 if there is no such node. */
    public int version() {
      return stat == null ? -1 : stat.getVersion();
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
   * Lists a queue, and reads one of its nodes.
   *
   * @param then called on the event thread; is given null if there was no answer or is no queue
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
            then.accept(listed.getChildren(), content(results.get(1)));
          } else {
            then.accept(null, NodeContent.NONE);
          }
        },
        null);
  }

  /**
   * Lists the children of nodes that were read before.
   *
   * @param then called on the event thread, with the children of each path, or null if there was no
   *     answer; a node that is gone has none
   */
  public static void children(
      ZooKeeper client,
      List<String> paths,
      List<NodeContent> nodes,
      Consumer<@Nullable List<List<String>>> then) {
    children(client, paths, nodes, new ArrayList<>(), then);
  }

  private static void children(
      ZooKeeper client,
      List<String> paths,
      List<NodeContent> nodes,
      List<List<String>> found,
      Consumer<@Nullable List<List<String>>> then) {
    // Skips nodes without children, and lists no more names than a packet can hold.
    List<Op> ops = new ArrayList<>();
    int end = found.size();
    int bytes = 0;
    for (int names = 0; end < paths.size(); end++) {
      Stat stat = nodes.get(end).stat();
      int count = stat == null ? 0 : stat.getNumChildren();
      names += count;
      if ((names > NAMES || bytes > PACKET_BYTES) && !ops.isEmpty()) {
        break;
      }
      if (count > 0) {
        bytes += size(paths.get(end));
        ops.add(Op.getChildren(paths.get(end)));
      }
    }
    if (ops.isEmpty()) {
      while (found.size() < paths.size()) {
        found.add(List.of());
      }
      then.accept(found);
      return;
    }
    int last = end;
    ask(
        client,
        ops,
        results -> {
          if (results == null) {
            then.accept(null);
            return;
          }
          int next = 0;
          for (int i = found.size(); i < last; i++) {
            Stat stat = nodes.get(i).stat();
            boolean asked = stat != null && stat.getNumChildren() > 0;
            found.add(
                asked && results.get(next++) instanceof OpResult.GetChildrenResult listed
                    ? listed.getChildren()
                    : List.of());
          }
          children(client, paths, nodes, found, then);
        });
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
    List<Op> ops = new ArrayList<>();
    int bytes = 0;
    for (int next = found.size();
        next < paths.size() && ops.size() < CHUNK && bytes < PACKET_BYTES;
        next++) {
      bytes += size(paths.get(next));
      ops.add(Op.getData(paths.get(next)));
    }
    ask(
        client,
        ops,
        results -> {
          if (results == null) {
            then.accept(null);
            return;
          }
          for (OpResult result : results) {
            found.add(content(result));
          }
          nodes(client, paths, found, then);
        });
  }

  /** A path in a packet; node names are ASCII. */
  private static int size(String path) {
    return path.length() + 16;
  }

  private static NodeContent content(OpResult result) {
    return result instanceof OpResult.GetDataResult read
        ? new NodeContent(read.getData(), read.getStat())
        : NodeContent.NONE;
  }

  /**
   * Sends all reads in one packet.
   *
   * @param then called on the event thread, with an answer to each, or null if there was none
   */
  private static void ask(ZooKeeper client, List<Op> ops, Consumer<@Nullable List<OpResult>> then) {
    client.multi(
        ops,
        (rc, path, context, results) ->
            then.accept(results == null || results.size() != ops.size() ? null : results),
        null);
  }
}
