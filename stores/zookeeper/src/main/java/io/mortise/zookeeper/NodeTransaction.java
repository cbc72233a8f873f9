package io.mortise.zookeeper;

import io.mortise.zookeeper.internal.node.NodeData;
import io.mortise.zookeeper.internal.queue.CreateResult;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Consumer;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Several creations and removals as one transaction, followed at once by one read of the containers
 * of its creations, except where that is not needed. Guarded by its session.
 */
final class NodeTransaction {
  private final SessionCore core;
  private final List<NodeOperation> nodeOperations;

  /** Locks that it creates nodes for. */
  private final List<String> locks = new ArrayList<>();

  /** Number of created nodes whose container is read, by the lock's path. */
  private final Map<String, Integer> creations = new LinkedHashMap<>();

  private Code code = Code.CONNECTIONLOSS;
  private List<OpResult> results = List.of();
  private List<OpResult> reads = List.of();

  enum TransactionOutcome {
    DONE,
    /** A part cannot be done, so nothing was done. */
    IMPOSSIBLE,
    UNKNOWN
  }

  NodeTransaction(SessionCore core, List<NodeOperation> nodeOperations) {
    this.core = core;
    this.nodeOperations = nodeOperations;
  }

  List<NodeOperation> works() {
    return nodeOperations;
  }

  /** Locks that it creates nodes for. */
  List<String> locks() {
    return locks;
  }

  TransactionOutcome outcome() {
    return code == Code.OK
        ? TransactionOutcome.DONE
        : results.isEmpty() ? TransactionOutcome.UNKNOWN : TransactionOutcome.IMPOSSIBLE;
  }

  /** Sends it; calls back under the guard when all is answered. */
  void send(Consumer<NodeTransaction> then) {
    List<Op> writes = new ArrayList<>();
    for (NodeOperation nodeOperation : nodeOperations) {
      if (nodeOperation instanceof NodeOperation.Create create) {
        locks.add(create.lock());
        if (create.reads()) {
          creations.merge(create.lock(), 1, Integer::sum);
        }
        writes.add(
            Op.create(
                create.prefix(),
                NodeData.bytes(create.data()),
                core.acl(),
                CreateMode.EPHEMERAL_SEQUENTIAL));
      } else if (nodeOperation instanceof NodeOperation.Release release) {
        writes.add(release.operation());
      } else if (nodeOperation instanceof NodeOperation.Delete delete) {
        writes.addAll(delete.operations());
      }
    }
    core.connection()
        .client()
        .multi(writes, (rc, path, context, answers) -> written(rc, answers, then), null);
    if (creations.size() == 1) {
      // The usual case: one acquire, often together with a release.
      core.connection()
          .client()
          .getData(
              creations.keySet().iterator().next(),
              false,
              (rc, path, context, data, stat) ->
                  read(rc == 0 ? List.of(new OpResult.GetDataResult(data, stat)) : null, then),
              null);
    } else if (!creations.isEmpty()) {
      core.connection()
          .client()
          .multi(
              creations.keySet().stream().map(Op::getData).toList(),
              (rc, path, context, answers) -> read(answers, then),
              null);
    }
  }

  private void written(int rc, @Nullable List<OpResult> answers, Consumer<NodeTransaction> then) {
    code = Code.get(rc);
    results = answers == null ? List.of() : answers;
    if (creations.isEmpty()) {
      core.guard().run(() -> then.accept(this));
    }
  }

  private void read(@Nullable List<OpResult> answers, Consumer<NodeTransaction> then) {
    reads = answers == null ? List.of() : answers;
    core.guard().run(() -> then.accept(this));
  }

  /** No part was answered. */
  void fail() {
    nodeOperations.forEach(nodeOperation -> nodeOperation.failed(code));
  }

  /** Delivers each result. Returns creations that need a node of their own after all. */
  List<NodeOperation.Create> deliver() {
    Map<String, OpResult> containers = new LinkedHashMap<>();
    int read = 0;
    for (String lock : creations.keySet()) {
      if (read < reads.size()) {
        containers.put(lock, reads.get(read));
      }
      read++;
    }
    List<NodeOperation.Create> missing = new ArrayList<>();
    long session = core.connection().client().getSessionId();
    int at = 0;
    for (NodeOperation nodeOperation : nodeOperations) {
      if (nodeOperation instanceof NodeOperation.Create create) {
        create.then().accept(created(create, results.get(at++), containers.get(create.lock())));
      } else if (nodeOperation instanceof NodeOperation.Release release) {
        if (results.get(at++) instanceof OpResult.SetDataResult given) {
          NodeOperation.Create own =
              release.followed(given.getStat().getEphemeralOwner() == session);
          if (own != null) {
            missing.add(own);
          }
        } else {
          release.ended(Code.OK);
        }
      } else if (nodeOperation instanceof NodeOperation.Delete delete) {
        at += delete.marked() ? 2 : 1;
        delete.then().accept(Code.OK);
      }
    }
    return missing;
  }

  /**
   * A transaction does not tell its number. If the node is the only one, the number of the
   * container's last change serves for its token. It is that of the node's creation, or of a later
   * removal of an older node. In either case it is below that of any later creation.
   */
  private CreateResult created(
      NodeOperation.Create nodeOperation, OpResult result, @Nullable OpResult container) {
    String path = result instanceof OpResult.CreateResult made ? made.getPath() : "";
    if (!nodeOperation.reads()) {
      return new CreateResult.ContainerNotRead(path, OptionalLong.empty());
    }
    if (container instanceof OpResult.GetDataResult data) {
      Stat stat = data.getStat();
      int children = stat.getNumChildren();
      boolean alone = children == 1 && creations.getOrDefault(nodeOperation.lock(), 0) == 1;
      int capacity = NodeData.capacity(data.getData());
      return alone
          ? new CreateResult.OnlyNode(path, capacity, stat.getPzxid())
          : new CreateResult.AmongOthers(path, capacity, Math.max(2, children));
    }
    return new CreateResult.ContainerUnknown(path);
  }
}
