package io.mortise.zookeeper;

import io.mortise.zookeeper.internal.node.MultiRead;
import io.mortise.zookeeper.internal.node.NodeData;
import io.mortise.zookeeper.internal.queue.CreateResult;
import io.mortise.zookeeper.internal.queue.ZooKeeperAttempt;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.function.Consumer;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Creates and removes attempts' nodes, in the order of the calls. While a batch is in flight the
 * next one is gathered and then sent as one transaction, since the cost of a request is the packet
 * rather than its content. A large batch goes at once, so that the server works on some requests
 * while others are answered. A single operation goes alone, which is faster, and returns the
 * transaction's number. A removal with a waiter goes alone and at once.
 *
 * <p>Each creation is followed by a read of the lock's container: it shows in the same round trip
 * whether the new node is the only one, and so holds the lock. A transaction with an impossible
 * part (a container that is gone) fails as a whole; its parts are then sent one by one. Guarded by
 * its session.
 */
final class NodeWriter {
  private static final int BATCH = 128;

  /** A batch of this size does not wait for the transactions in flight. */
  private static final int ENOUGH = 16;

  /** The most transactions in flight. */
  private static final int MOST = 4;

  /** The most single removals with a waiter in flight; further ones gather like all else. */
  private static final int HAND_OFFS = 4;

  /** How long a removal without a waiter waits for other operations. */
  private static final long LINGER_NANOS = 500_000;

  private final SessionCore core;
  private final ContainerCreator containerCreator;
  private final ArrayDeque<NodeOperation> waiting = new ArrayDeque<>();

  /** Removals that a next attempt may follow, by the lock's path. */
  private final Map<String, NodeOperation.Release> unsent = new HashMap<>();

  /** Number of transactions in flight. */
  private int underWay;

  /** Number of single removals with a waiter in flight. */
  private int handOffs;

  private boolean lingering;
  private boolean over;

  NodeWriter(SessionCore core) {
    this.core = core;
    this.containerCreator = new ContainerCreator(core);
  }

  /**
   * Makes a node.
   *
   * @param reads whether its container is read with it
   */
  void create(
      String lock,
      ZooKeeperAttempt zooKeeperAttempt,
      String data,
      boolean reads,
      Consumer<CreateResult> then) {
    add(new NodeOperation.Create(lock, zooKeeperAttempt, data, reads, then));
    sendBatches();
  }

  /**
   * Removes a node.
   *
   * @param later whether it may wait a little for further operations
   */
  void delete(String path, boolean later, Consumer<Code> then) {
    add(new NodeOperation.Delete(path, false, then));
    if (later) {
      linger();
    } else {
      sendBatches();
    }
  }

  /**
   * Removes the node of a hold with a waiter.
   *
   * @param marked whether the next waiter should learn that this node held
   */
  void removeForHandoff(String path, boolean marked, Consumer<Code> then) {
    NodeOperation.Delete nodeOperation = new NodeOperation.Delete(path, marked, then);
    if (!over && handOffs < HAND_OFFS) {
      // The waiter behind it should not wait for other requests of this process. It may overtake
      // them, since it takes nothing from any attempt.
      handOffs++;
      single(nodeOperation, 0, () -> handOffs--);
    } else {
      add(nodeOperation);
      sendBatches();
    }
  }

  /** Removes the node of an exclusive hold, a little later, unless an attempt follows. */
  void release(
      String lock,
      String path,
      ZooKeeperAttempt zooKeeperAttempt,
      NodeOperation.ReleaseListener then) {
    NodeOperation.Release nodeOperation =
        new NodeOperation.Release(lock, path, zooKeeperAttempt, then);
    if (!over) {
      unsent.put(lock, nodeOperation);
    }
    add(nodeOperation);
    linger();
  }

  /** The exclusive hold on a lock whose node an attempt may reuse, if there is one. */
  @Nullable ZooKeeperAttempt leaving(String lock) {
    NodeOperation.Release nodeOperation = unsent.get(lock);
    return nodeOperation == null ? null : nodeOperation.attempt();
  }

  /** Gives it the node of the {@link #leaving} hold, or a node of its own if that has gone. */
  void takeOver(
      String lock, ZooKeeperAttempt zooKeeperAttempt, String data, Consumer<CreateResult> then) {
    NodeOperation.Release before = Objects.requireNonNull(unsent.remove(lock));
    before.follow(new NodeOperation.Create(lock, zooKeeperAttempt, data, true, then));
    sendBatches();
  }

  private void linger() {
    if (underWay == 0 && !lingering) {
      lingering = true;
      core.store()
          .timer()
          .in(
              LINGER_NANOS,
              () ->
                  core.guard()
                      .run(
                          () -> {
                            lingering = false;
                            sendBatches();
                          }));
    }
  }

  private void add(NodeOperation nodeOperation) {
    if (over) {
      nodeOperation.failed(Code.SESSIONEXPIRED);
    } else {
      waiting.add(nodeOperation);
    }
  }

  private void sendBatches() {
    while (!waiting.isEmpty() && (underWay == 0 || (underWay < MOST && waiting.size() >= ENOUGH))) {
      underWay++;
      if (waiting.size() == 1) {
        single(take(), 0, this::next);
        return;
      }
      List<NodeOperation> operations = new ArrayList<>();
      int bytes = 0;
      while (operations.size() < BATCH && bytes < MultiRead.PACKET_BYTES && !waiting.isEmpty()) {
        bytes += waiting.element().size();
        operations.add(take());
      }
      send(operations);
    }
  }

  private NodeOperation take() {
    NodeOperation nodeOperation = waiting.remove();
    if (nodeOperation instanceof NodeOperation.Release release) {
      unsent.remove(release.lock(), release);
    }
    return nodeOperation;
  }

  private void next() {
    underWay--;
    sendBatches();
  }

  private ZooKeeper client() {
    return core.connection().client();
  }

  // ---- One by one ----

  private void single(NodeOperation nodeOperation, int tries, Runnable then) {
    if (nodeOperation instanceof NodeOperation.Create create) {
      create(create, tries, then);
    } else if (nodeOperation instanceof NodeOperation.Release release) {
      release(release, then);
    } else if (nodeOperation instanceof NodeOperation.Delete delete && delete.marked()) {
      client()
          .multi(
              delete.operations(),
              (rc, path, context, results) -> step(() -> delete.then().accept(Code.get(rc)), then),
              null);
    } else if (nodeOperation instanceof NodeOperation.Delete delete) {
      client()
          .delete(
              delete.path(),
              -1,
              (rc, path, context) -> step(() -> delete.then().accept(Code.get(rc)), then),
              null);
    }
  }

  private void release(NodeOperation.Release nodeOperation, Runnable then) {
    NodeOperation.Create next = nodeOperation.next();
    if (next == null) {
      client()
          .delete(
              nodeOperation.path(),
              -1,
              (rc, path, context) -> step(() -> nodeOperation.ended(Code.get(rc)), then),
              null);
      return;
    }
    client()
        .setData(
            nodeOperation.path(),
            NodeData.bytes(next.data()),
            -1,
            (rc, path, context, stat) ->
                step(() -> followed(nodeOperation, next, Code.get(rc), stat, then)),
            null);
  }

  private void followed(
      NodeOperation.Release nodeOperation,
      NodeOperation.Create next,
      Code code,
      @Nullable Stat stat,
      Runnable then) {
    switch (code) {
      case OK -> {
        boolean ours = stat != null && stat.getEphemeralOwner() == client().getSessionId();
        if (nodeOperation.followed(ours) == null) {
          then.run();
        } else {
          create(next, 0, then);
        }
      }
      case CONNECTIONLOSS, OPERATIONTIMEOUT, SESSIONMOVED, SESSIONEXPIRED -> {
        nodeOperation.failed(code);
        then.run();
      }
      default ->
          // The node has gone, or may not be written to.
          client()
              .delete(
                  nodeOperation.path(),
                  -1,
                  (rc, path, context) ->
                      step(
                          () -> {
                            nodeOperation.ended(Code.get(rc));
                            create(next, 0, then);
                          }),
                  null);
    }
  }

  private void step(Runnable result, Runnable then) {
    step(
        () -> {
          result.run();
          then.run();
        });
  }

  private void step(Runnable step) {
    core.guard()
        .run(
            () -> {
              if (!over) {
                step.run();
              }
            });
  }

  private void create(NodeOperation.Create nodeOperation, int tries, Runnable then) {
    containerCreator.ensure(nodeOperation, tries > 0);
    boolean reads = nodeOperation.reads() || tries > 0;
    CreateReply createReply = new CreateReply();
    client()
        .create(
            nodeOperation.prefix(),
            NodeData.bytes(nodeOperation.data()),
            core.acl(),
            CreateMode.EPHEMERAL_SEQUENTIAL,
            (rc, path, context, name, stat) -> {
              createReply.set(Code.get(rc), name, stat);
              if (!reads) {
                core.guard()
                    .run(
                        () -> made(nodeOperation, tries, createReply, createReply.notRead(), then));
              }
            },
            null);
    if (reads) {
      client()
          .getData(
              nodeOperation.lock(),
              false,
              (rc, path, context, data, stat) -> {
                // A created node exists, whether or not the container was read.
                CreateResult result =
                    rc == 0 ? createReply.read(data, stat) : createReply.notAnswered();
                core.guard().run(() -> made(nodeOperation, tries, createReply, result, then));
              },
              null);
    }
  }

  private void made(
      NodeOperation.Create nodeOperation,
      int tries,
      CreateReply createReply,
      CreateResult result,
      Runnable then) {
    if (over) {
      return;
    }
    if (createReply.code == Code.NONODE && tries < 3) {
      containerCreator.forget(nodeOperation.lock());
      create(nodeOperation, tries + 1, then);
      return;
    }
    nodeOperation
        .then()
        .accept(createReply.code == Code.OK ? result : new CreateResult.NotMade(createReply.code));
    then.run();
  }

  /** The answer to the creation; the read behind it is answered on the same thread. */
  private static final class CreateReply {
    Code code = Code.CONNECTIONLOSS;
    String name = "";
    long czxid;

    void set(Code answered, @Nullable String given, @Nullable Stat stat) {
      code = answered;
      name = given == null ? "" : given;
      czxid = stat == null ? 0 : stat.getCzxid();
    }

    CreateResult notRead() {
      return new CreateResult.ContainerNotRead(name, OptionalLong.of(czxid));
    }

    CreateResult notAnswered() {
      return new CreateResult.ContainerUnknown(name);
    }

    CreateResult read(byte[] data, Stat container) {
      int capacity = NodeData.capacity(data);
      int children = container.getNumChildren();
      if (children == 0) {
        // Another client has removed the node already.
        return new CreateResult.ContainerUnknown(name);
      }
      return children == 1
          ? new CreateResult.OnlyNode(name, capacity, czxid)
          : new CreateResult.AmongOthers(name, capacity, children);
    }
  }

  // ---- Many ----

  private void send(List<NodeOperation> nodeOperations) {
    nodeOperations.forEach(
        nodeOperation -> {
          if (nodeOperation instanceof NodeOperation.Create create) {
            containerCreator.ensure(create, false);
          }
        });
    new NodeTransaction(core, nodeOperations).send(this::answered);
  }

  private void answered(NodeTransaction nodeTransaction) {
    if (over) {
      return;
    }
    switch (nodeTransaction.outcome()) {
      case DONE -> {
        waiting.addAll(nodeTransaction.deliver());
        // Callers that are answered now send again at once: those requests go together. Otherwise
        // the first would go alone, and the others would wait for it.
        core.guard().afterUnlock(() -> core.guard().run(this::next));
      }
      case UNKNOWN -> {
        nodeTransaction.fail();
        next();
      }
      case IMPOSSIBLE -> {
        // A part was impossible, and nothing was done.
        nodeTransaction.locks().forEach(containerCreator::forget);
        oneByOne(new ArrayDeque<>(nodeTransaction.works()));
      }
    }
  }

  private void oneByOne(ArrayDeque<NodeOperation> rest) {
    if (rest.isEmpty()) {
      next();
    } else {
      // The container's first creation may have failed for want of a parent.
      single(rest.remove(), 1, () -> oneByOne(rest));
    }
  }

  // ---- Ending ----

  /** The code that ends the session answers pending requests. */
  void over() {
    over = true;
    waiting.clear();
    unsent.clear();
  }
}
