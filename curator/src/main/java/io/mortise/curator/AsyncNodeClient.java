package io.mortise.curator;

import java.util.List;
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
 * The requests that the recipes are made of. None waits; answers come on the client's one event
 * thread, in the order of the requests, and in order with the events of watches.
 */
final class AsyncNodeClient {
  private static final byte[] NOTHING = new byte[0];

  private final ZooKeeper client;
  private final List<ACL> acl;

  AsyncNodeClient(ZooKeeper client, List<ACL> acl) {
    this.client = client;
    this.acl = acl;
  }

  ZooKeeper client() {
    return client;
  }

  /** What came of a request; the value is null unless the code is OK. */
  @FunctionalInterface
  interface NodeCallback<T> {
    void onResult(Code code, @Nullable T value);
  }

  /** A node that was made. */
  record CreatedNode(String path, Stat stat) {}

  void create(String path, byte[] data, CreateMode mode, NodeCallback<CreatedNode> nodeCallback) {
    AsyncCallback.Create2Callback made =
        (rc, asked, context, name, stat) ->
            nodeCallback.onResult(Code.get(rc), rc == 0 ? new CreatedNode(name, stat) : null);
    client.create(path, data, acl, mode, made, null);
  }

  void children(String path, @Nullable Watcher watcher, NodeCallback<List<String>> nodeCallback) {
    AsyncCallback.ChildrenCallback listed =
        (rc, asked, context, children) -> nodeCallback.onResult(Code.get(rc), children);
    client.getChildren(path, watcher, listed, null);
  }

  /**
   * By its data, as Curator does, not by its existence: a watch on a node that is gone would stay.
   */
  void watch(String path, Watcher watcher, NodeCallback<Stat> nodeCallback) {
    AsyncCallback.DataCallback read =
        (rc, asked, context, data, stat) ->
            nodeCallback.onResult(Code.get(rc), rc == 0 ? stat : null);
    client.getData(path, watcher, read, null);
  }

  /** Gives up a watch; nobody waits for that. */
  void unwatch(String path, Watcher watcher) {
    client.removeWatches(
        path, watcher, Watcher.WatcherType.Any, true, (rc, asked, context) -> {}, null);
  }

  void data(String path, NodeCallback<byte[]> nodeCallback) {
    AsyncCallback.DataCallback read =
        (rc, asked, context, data, stat) ->
            nodeCallback.onResult(Code.get(rc), rc == 0 && data == null ? NOTHING : data);
    client.getData(path, false, read, null);
  }

  void stat(String path, NodeCallback<Stat> nodeCallback) {
    AsyncCallback.StatCallback looked =
        (rc, asked, context, stat) -> nodeCallback.onResult(Code.get(rc), stat);
    client.exists(path, false, looked, null);
  }

  void delete(String path, NodeCallback<Boolean> nodeCallback) {
    AsyncCallback.VoidCallback deleted =
        (rc, asked, context) -> nodeCallback.onResult(Code.get(rc), true);
    client.delete(path, -1, deleted, null);
  }

  void multi(List<Op> operations, NodeCallback<List<OpResult>> nodeCallback) {
    AsyncCallback.MultiCallback done =
        (rc, asked, context, results) -> nodeCallback.onResult(Code.get(rc), results);
    client.multi(operations, done, null);
  }

  Op createOp(String path, byte[] data, CreateMode mode) {
    return Op.create(path, data, acl, mode);
  }

  /** Brings the server that this client is connected to up to date with the leader. */
  void sync(String path, NodeCallback<Boolean> nodeCallback) {
    AsyncCallback.VoidCallback synced =
        (rc, asked, context) -> nodeCallback.onResult(Code.get(rc), true);
    client.sync(path, synced, null);
  }

  /**
   * Makes a directory and all above it, as containers, which the server removes some time after
   * they have become empty. Those that are there stay as they are.
   */
  void directories(String path, NodeCallback<Boolean> nodeCallback) {
    int slash = path.indexOf('/', 1);
    while (slash > 0) {
      create(path.substring(0, slash), NOTHING, CreateMode.CONTAINER, (code, made) -> {});
      slash = path.indexOf('/', slash + 1);
    }
    create(
        path,
        NOTHING,
        CreateMode.CONTAINER,
        (code, made) -> nodeCallback.onResult(code == Code.NODEEXISTS ? Code.OK : code, true));
  }
}
