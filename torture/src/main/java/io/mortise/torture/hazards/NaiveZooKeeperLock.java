package io.mortise.torture.hazards;

import java.io.IOException;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

/** The naive lock of ZooKeeper: the client that makes an ephemeral node has it. Thread-safe. */
final class NaiveZooKeeperLock implements AutoCloseable {
  private final ZooKeeper client;

  NaiveZooKeeperLock(String servers, int sessionMillis) throws IOException {
    client = new ZooKeeper(servers, sessionMillis, event -> {});
  }

  /** Whether the node was not there, and is ours now. */
  boolean lock(String path) {
    try {
      client.create(path, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
      return true;
    } catch (KeeperException.NodeExistsException held) {
      return false;
    } catch (KeeperException e) {
      throw new IllegalStateException("ZooKeeper does not answer.", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("Interrupted.", e);
    }
  }

  @Override
  public void close() {
    try {
      client.close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
