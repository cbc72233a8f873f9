package io.mortise.zookeeper;

import io.mortise.zookeeper.internal.AsyncNodeClient;
import io.mortise.zookeeper.internal.node.AtLeastMark;
import io.mortise.zookeeper.internal.node.MultiRead.NodeContent;
import io.mortise.zookeeper.internal.node.NodeData;
import io.mortise.zookeeper.internal.node.NodeLayout;
import io.mortise.zookeeper.internal.queue.QueueEffect.KeepShut;
import io.mortise.zookeeper.internal.queue.QueueEffect.MarkChange;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;

/**
 * Makes and removes the marks of at-least times, with the names that sweeps read. Guarded by its
 * session.
 */
final class AtLeastNodes {
  private static final byte[] NOTHING = new byte[0];

  private final SessionCore core;

  AtLeastNodes(SessionCore core) {
    this.core = core;
  }

  /** As {@link KeepShut}, for a hold with that node. */
  void keepShut(String node, String lock, KeepShut effect, Consumer<Code> then) {
    AsyncNodeClient nodes = core.nodes();
    NodeLayout layout = core.layout();
    AtLeastMark mark = effect.mark();
    NodeContent content = effect.content();
    NodeContent container = effect.container();
    byte[] name = NodeData.bytes(NodeLayout.last(lock));
    List<Op> operations = new ArrayList<>();
    // The first error is that of the hold's node, if it has one.
    operations.add(Op.setData(node, NodeData.timed(content.data()), content.version()));
    operations.add(nodes.createOp(lock + "/" + mark.name(), NOTHING, CreateMode.PERSISTENT));
    if (!NodeData.isTimed(container.data())) {
      operations.add(Op.setData(lock, NodeData.timed(container.data()), -1));
    }
    AtLeastMark replaced = effect.replaced();
    if (replaced != null) {
      operations.add(Op.delete(lock + "/" + replaced.name(), -1));
    }
    nodes.multi(operations, (code, results) -> then.accept(code));
    // Behind the mark: a sweep removes a name without a mark. Processes take turns at sweeping by
    // writing the parent of the facts.
    nodes.create(layout.leasts(), NOTHING, CreateMode.PERSISTENT, (code, made) -> {});
    nodes.create(layout.facts(), NOTHING, CreateMode.PERSISTENT, (code, made) -> {});
    nodes.create(layout.least(mark.attempt()), name, CreateMode.PERSISTENT, (code, made) -> {});
  }

  /** Removes the node of a hold, and changes its marks in the same transaction. */
  void end(String node, MarkChange marks, Consumer<Code> then) {
    List<Op> operations = new ArrayList<>();
    marks.removed().forEach(mark -> operations.add(Op.delete(mark, -1)));
    operations.add(Op.delete(node, -1));
    String added = marks.added();
    if (added != null) {
      operations.add(core.nodes().createOp(added, NOTHING, CreateMode.PERSISTENT));
    }
    core.nodes()
        .multi(
            operations,
            (code, results) -> {
              if (code != Code.NONODE) {
                then.accept(code);
                return;
              }
              // A part has gone before.
              if (added == null) {
                marks.removed().forEach(mark -> core.nodes().delete(mark, (gone, none) -> {}));
              }
              core.nodes().delete(node, (gone, none) -> then.accept(gone));
            });
    if (added == null) {
      marks.removed().forEach(this::forget);
    }
  }

  /** Removes marks, whether or not they are still there. */
  void open(String lock, List<AtLeastMark> marks, Consumer<Code> then) {
    int last = marks.size() - 1;
    for (int i = 0; i <= last; i++) {
      boolean isLast = i == last;
      core.nodes()
          .delete(
              lock + "/" + marks.get(i).name(),
              (code, gone) -> {
                if (isLast) {
                  then.accept(code);
                }
              });
      forget(marks.get(i).name());
    }
  }

  private void forget(String mark) {
    AtLeastMark removed = AtLeastMark.parse(NodeLayout.last(mark));
    if (removed != null) {
      core.nodes().delete(core.layout().least(removed.attempt()), (code, gone) -> {});
    }
  }
}
