package io.mortise.zookeeper;

import io.mortise.zookeeper.internal.ZooKeeperTarget;
import java.time.Duration;
import java.util.List;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.common.PathUtils;
import org.apache.zookeeper.data.ACL;

/**
 * ZooKeeperOptions of a ZooKeeper store.
 *
 * @param root the node above all nodes of the store, {@code /mortise} by default; made if it is
 *     missing
 * @param timeout how long an answer may take until the request counts as unanswered, and how long
 *     opening waits for a connection. 100 ms to one minute, 5 s by default
 * @param tick the servers' tick; zero, the default, to determine it, or to assume 2 s for a client
 *     that was handed in
 * @param acl the ACL of created nodes; by default all clients have all rights
 */
public record ZooKeeperOptions(String root, Duration timeout, Duration tick, List<ACL> acl) {
  /** Below {@code /mortise}, 5 s, tick not given, open to all clients. */
  public static final ZooKeeperOptions DEFAULT =
      new ZooKeeperOptions(
          "/mortise", ZooKeeperTarget.DEFAULT_TIMEOUT, Duration.ZERO, Ids.OPEN_ACL_UNSAFE);

  /**
   * Checks the values.
   *
   * @throws IllegalArgumentException if a value is not as described above
   */
  public ZooKeeperOptions {
    PathUtils.validatePath(root);
    if (root.equals("/")) {
      throw new IllegalArgumentException("The root of a store must not be '/'. Give it a path.");
    }
    acl = ZooKeeperTarget.checked(timeout, tick, acl);
  }

  /** The same below this root. */
  public ZooKeeperOptions withRoot(String other) {
    return new ZooKeeperOptions(other, timeout, tick, acl);
  }

  /** The same with this timeout. */
  public ZooKeeperOptions withTimeout(Duration other) {
    return new ZooKeeperOptions(root, other, tick, acl);
  }

  /** The same with this tick. */
  public ZooKeeperOptions withTick(Duration other) {
    return new ZooKeeperOptions(root, timeout, other, acl);
  }

  /** The same with this ACL. */
  public ZooKeeperOptions withAcl(List<ACL> other) {
    return new ZooKeeperOptions(root, timeout, tick, other);
  }
}
