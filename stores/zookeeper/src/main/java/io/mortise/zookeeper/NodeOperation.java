package io.mortise.zookeeper;

import io.mortise.zookeeper.internal.node.LockQueue;
import io.mortise.zookeeper.internal.node.NodeData;
import io.mortise.zookeeper.internal.queue.CreateResult;
import io.mortise.zookeeper.internal.queue.ZooKeeperAttempt;
import java.util.List;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;

/** A creation or removal of an attempt's node, and the receiver of its result. */
sealed interface NodeOperation {
  /** Nothing was done, or the result is unknown. */
  void failed(Code code);

  /** Its size in a packet, rounded up. */
  int size();

  /** Size including fixed parts of the packet. */
  private static int size(String path, String data) {
    return path.length() + 3 * data.length() + 100;
  }

  /**
   * Creation of an attempt's node.
   *
   * @param reads whether its container is read with it
   */
  record Create(
      String lock,
      ZooKeeperAttempt attempt,
      String data,
      boolean reads,
      Consumer<CreateResult> then)
      implements NodeOperation {
    /** The path without the sequence number. */
    String prefix() {
      return lock + "/" + LockQueue.prefix(attempt.weight());
    }

    @Override
    public int size() {
      return NodeOperation.size(prefix(), data);
    }

    @Override
    public void failed(Code code) {
      then.accept(new CreateResult.NotMade(code));
    }
  }

  /**
   * The removal of a hold's node without waiters. Until it is sent, the session's next attempt may
   * follow: then the node stays, and belongs to that attempt.
   */
  final class Release implements NodeOperation {
    private final String lock;
    private final String path;
    private final ZooKeeperAttempt attempt;
    private final ReleaseListener then;
    private @Nullable Create next;

    Release(String lock, String path, ZooKeeperAttempt attempt, ReleaseListener then) {
      this.lock = lock;
      this.path = path;
      this.attempt = attempt;
      this.then = then;
    }

    String lock() {
      return lock;
    }

    String path() {
      return path;
    }

    /** The attempt whose hold ends. */
    ZooKeeperAttempt attempt() {
      return attempt;
    }

    /** The creation that follows, if any. */
    @Nullable Create next() {
      return next;
    }

    void follow(Create by) {
      next = by;
    }

    Op operation() {
      Create follower = next;
      return follower == null
          ? Op.delete(path, -1)
          : Op.setData(path, NodeData.bytes(follower.data()), -1);
    }

    /** The node is gone, or nothing was done. */
    void ended(Code code) {
      then.accept(code, false);
    }

    /**
     * The node was given to the attempt that follows.
     *
     * @param ours whether the node belongs to this session at all
     * @return the attempt that needs a node of its own after all, as the previous node has gone
     */
    @Nullable Create followed(boolean ours) {
      Create follower = next;
      if (follower == null || !ours) {
        then.accept(Code.NONODE, false);
        return follower;
      }
      then.accept(Code.OK, true);
      follower.then().accept(new CreateResult.TakenOver(attempt));
      return null;
    }

    @Override
    public int size() {
      Create follower = next;
      return NodeOperation.size(path, follower == null ? "" : follower.data());
    }

    @Override
    public void failed(Code code) {
      then.accept(code, false);
      if (next != null) {
        next.failed(code);
      }
    }
  }

  /** Receives the result of ending a hold. */
  interface ReleaseListener {
    /**
     * Its node was removed, or could not be.
     *
     * @param takenOver whether it stays, as the node of the next attempt
     */
    void accept(Code code, boolean takenOver);
  }

  /** Removal of a node: of a hold, with a mark for its watcher, or of any other. */
  record Delete(String path, boolean marked, Consumer<Code> then) implements NodeOperation {
    /** Mark on a node that held: its watcher is next, and need not list the other nodes. */
    private static final byte[] RELEASED = {'r'};

    List<Op> operations() {
      Op removal = Op.delete(path, -1);
      return marked ? List.of(Op.setData(path, RELEASED, -1), removal) : List.of(removal);
    }

    @Override
    public int size() {
      return 2 * NodeOperation.size(path, "");
    }

    @Override
    public void failed(Code code) {
      then.accept(code);
    }
  }
}
