package io.mortise.zookeeper.internal;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.KeeperException.Code;

/**
 * Removes the ephemeral nodes of an ended session whose ZooKeeper session belongs to another owner
 * and goes on: they would last as long as that. Retried until the server has confirmed it, or that
 * session has ended too. Thread-safe.
 */
public final class EphemeralNodeCleaner {
  private EphemeralNodeCleaner() {}

  /** Deletes nodes, and removes the watch on a node. Does not block. */
  public static void remove(
      ZooKeeperConnection zooKeeperConnection, List<String> nodes, String watched) {
    if (!zooKeeperConnection.client().getState().isAlive()
        || zooKeeperConnection.link() == ZooKeeperConnection.ConnectionStatus.OVER) {
      return;
    }
    List<String> failed = new ArrayList<>();
    AtomicInteger open = new AtomicInteger(nodes.size());
    for (String node : nodes) {
      zooKeeperConnection
          .client()
          .delete(
              node,
              -1,
              (rc, path, context) -> {
                // One thread answers all.
                if (rc == Code.CONNECTIONLOSS.intValue()) {
                  failed.add(node);
                }
                if (open.decrementAndGet() == 0 && !failed.isEmpty()) {
                  DelayedTaskScheduler.retryDetached(
                      () -> remove(zooKeeperConnection, failed, watched));
                }
              },
              null);
    }
    zooKeeperConnection.unwatch(watched);
    zooKeeperConnection.ignore();
  }
}
