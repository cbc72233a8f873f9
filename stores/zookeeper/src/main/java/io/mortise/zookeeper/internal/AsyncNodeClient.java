package io.mortise.zookeeper.internal;

import io.mortise.internal.queue.OutboxLock;
import java.util.List;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * A session's requests for single nodes. No method blocks. Answers come under the session's guard,
 * on the client's one event thread, in the order of the requests, and in order with the events of
 * watches.
 */
public final class AsyncNodeClient {
  private static final byte[] NOTHING = new byte[0];

  private final ZooKeeper client;
  private final List<ACL> acl;
  private final OutboxLock guard;

  /**
   * Uses a client, for one session.
   *
   * @param acl of the nodes that are made
   */
  public AsyncNodeClient(ZooKeeper client, List<ACL> acl, OutboxLock guard) {
    this.client = client;
    this.acl = acl;
    this.guard = guard;
  }

  public ZooKeeper client() {
    return client;
  }

  /**
   * Takes the result of a request; the value is null unless the code is OK. Called under the guard.
   */
  @FunctionalInterface
  public interface NodeCallback<T> {
    /** The request was answered, or its connection broke. */
    void onResult(Code code, @Nullable T value);
  }

  public record CreatedNode(String path, Stat stat) {}

  public static final class ReadNode {
    private final byte[] data;
    private final Stat stat;

    private ReadNode(byte @Nullable [] data, Stat stat) {
      this.data = data == null ? NOTHING : data;
      this.stat = stat;
    }

    /** Its data; empty if it has none. */
    public byte[] data() {
      return data;
    }

    /** Its stat. */
    public Stat stat() {
      return stat;
    }
  }

  private <T> void answer(NodeCallback<T> nodeCallback, int rc, @Nullable T value) {
    guard.run(() -> nodeCallback.onResult(Code.get(rc), value));
  }

  public void create(
      String path, byte[] data, CreateMode mode, NodeCallback<CreatedNode> nodeCallback) {
    AsyncCallback.Create2Callback made =
        (rc, asked, context, name, stat) ->
            answer(nodeCallback, rc, rc == 0 ? new CreatedNode(name, stat) : null);
    client.create(path, data, acl, mode, made, null);
  }

  public void children(
      String path, @Nullable Watcher watcher, NodeCallback<List<String>> nodeCallback) {
    AsyncCallback.ChildrenCallback listed =
        (rc, asked, context, children) -> answer(nodeCallback, rc, rc == 0 ? children : null);
    client.getChildren(path, watcher, listed, null);
  }

  /**
   * Watches a node by its data, as Curator does, not by its existence: a watch on a node that is
   * gone would stay.
   */
  public void watch(String path, Watcher watcher, NodeCallback<Stat> nodeCallback) {
    AsyncCallback.DataCallback read =
        (rc, asked, context, data, stat) -> answer(nodeCallback, rc, rc == 0 ? stat : null);
    client.getData(path, watcher, read, null);
  }

  /** Watches a node and all below it, until the session ends. */
  public void watchTree(String path, Watcher watcher, NodeCallback<Boolean> nodeCallback) {
    AsyncCallback.VoidCallback watched =
        (rc, asked, context) -> answer(nodeCallback, rc, rc == 0 ? true : null);
    client.addWatch(path, watcher, AddWatchMode.PERSISTENT_RECURSIVE, watched, null);
  }

  /** Removes a watch; no caller waits for that. */
  public void unwatch(String path, Watcher watcher) {
    client.removeWatches(
        path, watcher, Watcher.WatcherType.Any, true, (rc, asked, context) -> {}, null);
  }

  public void read(String path, NodeCallback<ReadNode> nodeCallback) {
    AsyncCallback.DataCallback read =
        (rc, asked, context, data, stat) ->
            answer(nodeCallback, rc, rc == 0 ? new ReadNode(data, stat) : null);
    client.getData(path, false, read, null);
  }

  public void stat(String path, NodeCallback<Stat> nodeCallback) {
    AsyncCallback.StatCallback looked =
        (rc, asked, context, stat) -> answer(nodeCallback, rc, rc == 0 ? stat : null);
    client.exists(path, false, looked, null);
  }

  /** Writes a node if it has this version; -1 for any. */
  public void write(
      String path, byte @Nullable [] data, int version, NodeCallback<Stat> nodeCallback) {
    AsyncCallback.StatCallback written =
        (rc, asked, context, stat) -> answer(nodeCallback, rc, rc == 0 ? stat : null);
    client.setData(path, data, version, written, null);
  }

  /** Deletes a node, whatever its version. */
  public void delete(String path, NodeCallback<Boolean> nodeCallback) {
    AsyncCallback.VoidCallback deleted =
        (rc, asked, context) -> answer(nodeCallback, rc, rc == 0 ? true : null);
    client.delete(path, -1, deleted, null);
  }

  /** Executes all of this, or nothing. */
  public void multi(List<Op> operations, NodeCallback<List<OpResult>> nodeCallback) {
    AsyncCallback.MultiCallback done =
        (rc, asked, context, results) -> answer(nodeCallback, rc, rc == 0 ? results : null);
    client.multi(operations, done, null);
  }

  /** A part of a transaction: makes a node. */
  public Op createOp(String path, byte[] data, CreateMode mode) {
    return Op.create(path, data, acl, mode);
  }

  /** Brings the server that this client is connected to up to date with the leader. */
  public void sync(String path, NodeCallback<Boolean> nodeCallback) {
    AsyncCallback.VoidCallback synced =
        (rc, asked, context) -> answer(nodeCallback, rc, rc == 0 ? true : null);
    client.sync(path, synced, null);
  }

  /**
   * Makes a directory and all above it, as containers, which the server removes some time after
   * they have become empty. Existing nodes are left unchanged. The result has no value.
   */
  public void directories(String path, NodeCallback<CreatedNode> nodeCallback) {
    int slash = path.indexOf('/', 1);
    while (slash > 0) {
      create(path.substring(0, slash), NOTHING, CreateMode.CONTAINER, (code, made) -> {});
      slash = path.indexOf('/', slash + 1);
    }
    create(
        path,
        NOTHING,
        CreateMode.CONTAINER,
        (code, made) -> nodeCallback.onResult(code == Code.NODEEXISTS ? Code.OK : code, null));
  }
}
