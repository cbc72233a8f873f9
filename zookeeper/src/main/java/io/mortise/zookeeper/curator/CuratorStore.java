package io.mortise.zookeeper.curator;

import io.mortise.FencingToken;
import io.mortise.StaleTokenException;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.LockName;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreUrl;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * Opens ZooKeeper ensembles whose locks are laid out as Curator lays them out: a mixed fleet of
 * Curator and Mortise clients excludes each other on the same path. For new applications, and where
 * nobody uses Curator, {@code zk://} is faster and can do more.
 *
 * <p>URL: {@code zk+curator://host:port,host:port/chroot?base=/apps&recipe=mutex}. The lock {@code
 * invoice/42} stands at {@code <chroot><base>/invoice/42}.
 *
 * <table>
 * <caption>Which recipe of Curator is met by what</caption>
 * <tr><td>{@code recipe=mutex} (default): {@code lock(name)}</td><td>{@code InterProcessMutex}</td></tr>
 * <tr><td>{@code recipe=readwrite}: {@code lock(name)}, {@code readWriteLock(name)}</td><td>{@code
 *     InterProcessReadWriteLock}</td></tr>
 * <tr><td>both: {@code semaphore(name, n)}</td><td>{@code InterProcessSemaphoreV2}; with one permit
 *     {@code InterProcessSemaphoreMutex}</td></tr>
 * </table>
 */
public final class CuratorStore {
  /**
   * How long a request can be under way. A connection that is silent is given up before, and what
   * was sent over it is refused once the session has another.
   */
  private static final Duration MAX_IN_FLIGHT = Duration.ofSeconds(10);

  /** After this long a request that got no answer is reported as unanswered. */
  static final Duration PATIENCE = Duration.ofSeconds(5);

  private CuratorStore() {}

  /**
   * Opens the store that a URL names; makes the chroot if it is not there. Blocks.
   *
   * @throws IllegalArgumentException if the URL has an unknown or wrong parameter
   * @throws io.mortise.StoreUnavailableException if no server answers
   */
  public static LockStore open(String url) {
    return open(StoreUrl.parse(url));
  }

  static LockStore open(StoreUrl url) {
    CuratorTarget target = CuratorTarget.of(url);
    LockLook look = new LockLook(target);
    look.open();
    return new CuratorLockStore(target, profile(target), look);
  }

  /**
   * The node by which an exclusive hold is kept, for {@link
   * io.mortise.zookeeper.FencedWrites#whileNodeStands}. Blocks for two round trips.
   *
   * @param client of the same ensemble and chroot as the store
   * @param base as in the store's URL; empty if there is none
   * @throws StaleTokenException if there is no such node: the hold is over, or of another store
   * @throws KeeperException if the ensemble refuses or does not answer
   */
  public static String lockNode(ZooKeeper client, String base, FencingToken token)
      throws KeeperException, InterruptedException {
    String path = new LockPaths(base).of(LockName.of(token.lock()));
    String prefix = NodeName.prefix(AttemptId.parse(token.holder()));
    try {
      for (String child : client.getChildren(path, false)) {
        Stat stat =
            child.startsWith(prefix) ? client.exists(Stand.child(path, child), false) : null;
        if (stat != null && Tokens.isOf(stat.getCzxid(), token.value())) {
          return Stand.child(path, child);
        }
      }
    } catch (KeeperException.NoNodeException e) {
      // Nobody holds or waits any more.
    }
    throw new StaleTokenException("lock path '" + path + "'", token);
  }

  private static StoreProfile profile(CuratorTarget target) {
    Set<Capability> capabilities =
        EnumSet.of(
            Capability.SESSION,
            Capability.QUEUE,
            Capability.PERMITS,
            Capability.TOKEN,
            Capability.PUSH);
    if (target.recipe() == Recipe.READ_WRITE) {
      capabilities.add(Capability.SHARED);
      capabilities.add(Capability.DOWNGRADE);
    }
    return new StoreProfile(
        target.display(),
        capabilities,
        MAX_IN_FLIGHT,
        target.tick().multipliedBy(2),
        target.tick());
  }
}
