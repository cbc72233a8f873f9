package io.mortise.bench.subject;

import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * The recipe of ZooKeeper's own manual, written by hand: an ephemeral sequential node, and a watch
 * on the one before it. The first listing is pipelined with the creation. The limit for an
 * uncontended pair that waits for each answer.
 */
final class SequentialNodeLock implements Subject {
  static final int SESSION_MILLIS = 15_000;
  private static final byte[] NOTHING = {};

  private final ZooKeeper client;

  SequentialNodeLock(StoreUrls storeUrls) throws Exception {
    client = connect(storeUrls);
  }

  static ZooKeeper connect(StoreUrls storeUrls) throws Exception {
    CountDownLatch connected = new CountDownLatch(1);
    ZooKeeper client =
        new ZooKeeper(
            storeUrls.zooKeeperServers(),
            SESSION_MILLIS,
            event -> {
              if (event.getState() == KeeperState.SyncConnected) {
                connected.countDown();
              }
            });
    if (!connected.await(10, TimeUnit.SECONDS)) {
      close(client);
      throw new IllegalStateException("ZooKeeper's client did not connect.");
    }
    return client;
  }

  @Override
  public LockHandle lockHandle(String lock) throws KeeperException, InterruptedException {
    String parent = "/raw/" + lock;
    make(client, parent);
    return new NodeHandle(parent);
  }

  static void make(ZooKeeper client, String path) throws KeeperException, InterruptedException {
    for (int slash = path.indexOf('/', 1); slash > 0; slash = path.indexOf('/', slash + 1)) {
      makeOne(client, path.substring(0, slash));
    }
    makeOne(client, path);
  }

  private static void makeOne(ZooKeeper client, String path)
      throws KeeperException, InterruptedException {
    try {
      client.create(path, NOTHING, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    } catch (KeeperException.NodeExistsException e) {
      // Another thread was faster.
    }
  }

  static void close(ZooKeeper client) {
    try {
      client.close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    close(client);
  }

  private final class NodeHandle implements LockHandle {
    private final String parent;
    private String node = "";

    NodeHandle(String parent) {
      this.parent = parent;
    }

    @Override
    public boolean take(long waitMillis) throws Exception {
      long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(waitMillis);
      CompletableFuture<String> made = new CompletableFuture<>();
      CompletableFuture<List<String>> listed = new CompletableFuture<>();
      client.create(
          parent + "/n-",
          NOTHING,
          Ids.OPEN_ACL_UNSAFE,
          CreateMode.EPHEMERAL_SEQUENTIAL,
          (rc, path, context, name) -> complete(made, rc, name),
          null);
      client.getChildren(
          parent,
          false,
          (int rc, String path, Object context, List<String> all) -> complete(listed, rc, all),
          null);
      node = made.get();
      String own = node.substring(parent.length() + 1);
      List<String> line = listed.get();
      while (true) {
        String before =
            line.stream()
                .filter(other -> other.compareTo(own) < 0)
                .max(Comparator.naturalOrder())
                .orElse(null);
        if (before == null) {
          return true;
        }
        CountDownLatch gone = new CountDownLatch(1);
        Stat present = client.exists(parent + "/" + before, event -> gone.countDown());
        if (present != null && !gone.await(until - System.nanoTime(), TimeUnit.NANOSECONDS)) {
          release();
          return false;
        }
        line = client.getChildren(parent, false);
      }
    }

    @Override
    public void release() throws KeeperException, InterruptedException {
      client.delete(node, -1);
    }
  }

  private static <T> void complete(CompletableFuture<T> answer, int rc, T value) {
    if (rc == 0) {
      answer.complete(value);
    } else {
      answer.completeExceptionally(KeeperException.create(Code.get(rc)));
    }
  }
}
