package io.mortise.curator;

import io.mortise.curator.CuratorStore.LockRecipe;
import io.mortise.zookeeper.internal.ZooKeeperTarget;
import java.time.Duration;
import java.util.List;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.data.ACL;

/**
 * CuratorOptions of a ZooKeeper store.
 *
 * @param base the path above all names: empty, or one that begins with a slash and does not end
 *     with one
 * @param recipe Curator's counterpart of locks
 * @param timeout how long an answer may take until the request counts as unanswered, and how long
 *     opening waits for a connection. 100 ms to one minute, 5 s by default
 * @param tick the servers' tick; zero, the default, to determine it, or to assume 2 s for a client
 *     that was handed in
 * @param acl the ACL of created nodes; by default all clients have all rights
 */
public record CuratorOptions(
    String base, LockRecipe recipe, Duration timeout, Duration tick, List<ACL> acl) {
  /** No base, mutexes, 5 s, tick not given, open to all clients. */
  public static final CuratorOptions DEFAULT =
      new CuratorOptions(
          "",
          LockRecipe.MUTEX,
          ZooKeeperTarget.DEFAULT_TIMEOUT,
          Duration.ZERO,
          Ids.OPEN_ACL_UNSAFE);

  /**
   * Checks the values.
   *
   * @throws IllegalArgumentException if a value is not as described above
   */
  public CuratorOptions {
    String checked = new LockPaths(base).base();
    acl = ZooKeeperTarget.checked(timeout, tick, acl);
    base = checked;
  }

  /** The same with this base. */
  public CuratorOptions withBase(String other) {
    return new CuratorOptions(other, recipe, timeout, tick, acl);
  }

  /** The same with this recipe. */
  public CuratorOptions withRecipe(LockRecipe other) {
    return new CuratorOptions(base, other, timeout, tick, acl);
  }

  /** The same with this timeout. */
  public CuratorOptions withTimeout(Duration other) {
    return new CuratorOptions(base, recipe, other, tick, acl);
  }

  /** The same with this tick. */
  public CuratorOptions withTick(Duration other) {
    return new CuratorOptions(base, recipe, timeout, other, acl);
  }

  /** The same with this ACL. */
  public CuratorOptions withAcl(List<ACL> other) {
    return new CuratorOptions(base, recipe, timeout, tick, other);
  }
}
