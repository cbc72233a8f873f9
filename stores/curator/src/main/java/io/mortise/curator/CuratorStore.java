package io.mortise.curator;

import io.mortise.FencingToken;
import io.mortise.LockName;
import io.mortise.StaleTokenException;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;
import io.mortise.spi.time.WallClock;
import io.mortise.zookeeper.internal.AdminConnection;
import io.mortise.zookeeper.internal.WorkerPools;
import io.mortise.zookeeper.internal.ZooKeeperConnector;
import io.mortise.zookeeper.internal.ZooKeeperTarget;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * Opens ZooKeeper ensembles with locks in Curator's layout: clients of Curator and of Mortise
 * exclude each other on the same path. For new applications, and without other users of Curator,
 * {@code zk://} is faster and has more features.
 *
 * <p>URL: {@code zk+curator://host:port,host:port/chroot?base=/apps&recipe=mutex}. The lock {@code
 * invoice/42} is at {@code <chroot><base>/invoice/42}.
 *
 * <table>
 * <caption>Recipes of Curator and their counterparts</caption>
 * <tr><td>{@code recipe=mutex} (default): {@code lock(name)}</td><td>{@code InterProcessMutex}</td></tr>
 * <tr><td>{@code recipe=readwrite}: {@code lock(name)}, {@code readWriteLock(name)}</td><td>{@code
 *     InterProcessReadWriteLock}</td></tr>
 * <tr><td>both: {@code semaphore(name, n)}</td><td>{@code InterProcessSemaphoreV2}; with one permit
 *     {@code InterProcessSemaphoreMutex}</td></tr>
 * </table>
 */
public final class CuratorStore {
  private CuratorStore() {}

  /**
   * Opens the store that a URL names; makes the chroot if it is missing. Parameters beside {@code
   * base} and {@code recipe} are those of {@code zk://}, see {@link
   * io.mortise.zookeeper.ZooKeeperStore#open}. Blocks.
   *
   * @throws IllegalArgumentException if the URL has an unknown or wrong parameter
   * @throws io.mortise.StoreUnavailableException if no server answers
   * @throws io.mortise.StoreUnfitException if one does, but must not be used as it is
   */
  public static LockStore open(String url) {
    return open(StoreUrl.parse(url));
  }

  static LockStore open(StoreUrl url) {
    ZooKeeperTarget zooKeeperTarget = ZooKeeperTarget.parse(url, Set.of("base", "recipe"));
    CuratorOptions options =
        CuratorOptions.DEFAULT
            .withBase(url.parameter("base", ""))
            .withRecipe(recipe(url))
            .withTimeout(zooKeeperTarget.timeout())
            .withTick(zooKeeperTarget.tick())
            .withAcl(zooKeeperTarget.acl());
    String display = "zk+curator:" + zooKeeperTarget + options.base();
    if (!zooKeeperTarget.path().isEmpty()) {
      ExecutorService worker = WorkerPools.named("mortise-curator-worker");
      AdminConnection rooted =
          new AdminConnection(
              ZooKeeperConnector.to(zooKeeperTarget.at("")),
              display,
              options.timeout(),
              worker,
              Ticker.SYSTEM);
      try {
        rooted.prepare(zooKeeperTarget.path(), options.acl(), CreateMode.PERSISTENT);
      } finally {
        rooted.close();
        worker.shutdown();
      }
    }
    return new CuratorLockStore(
        ZooKeeperConnector.to(zooKeeperTarget), options, display, Ticker.SYSTEM, WallClock.SYSTEM);
  }

  private static LockRecipe recipe(StoreUrl url) {
    String word = url.parameter("recipe", "mutex");
    return switch (word) {
      case "mutex" -> LockRecipe.MUTEX;
      case "readwrite" -> LockRecipe.READ_WRITE;
      default ->
          throw new IllegalArgumentException(
              "Parameter 'recipe' of store URL '"
                  + url
                  + "' is '"
                  + word
                  + "'. Expected mutex or readwrite.");
    };
  }

  /**
   * Uses a connected client of Curator. Its ZooKeeper session becomes that of the locks, and stays
   * open when the store is closed; after an expiry the store follows the client to its next
   * session. The client's namespace comes before the base, as in the client's own paths. Its
   * session timeout must not be below the lock client's TTL. The client must have been started.
   * Blocks.
   *
   * @throws io.mortise.StoreUnavailableException if the client is not connected in time
   */
  public static LockStore over(CuratorFramework curator, CuratorOptions options) {
    String namespace = curator.getNamespace();
    String base = namespace == null || namespace.isEmpty() ? "" : "/" + namespace;
    return over(
        () -> curator.getZookeeperClient().getZooKeeper(), options.withBase(base + options.base()));
  }

  /**
   * Uses connected clients, as {@link #over(CuratorFramework, CuratorOptions)} does. The source is
   * asked for the current client whenever a session begins. It may block for a moment.
   *
   * @throws io.mortise.StoreUnavailableException if the client is not connected in time
   */
  public static LockStore over(Callable<ZooKeeper> clients, CuratorOptions options) {
    return new CuratorLockStore(
        ZooKeeperConnector.over(clients),
        options,
        "zk+curator:(client handed in)" + options.base(),
        Ticker.SYSTEM,
        WallClock.SYSTEM);
  }

  /**
   * The node of an exclusive hold, for {@link io.mortise.zookeeper.FencedWrites#whileNodeStands}.
   * Blocks for two round trips.
   *
   * @param client of the same ensemble and chroot as the store
   * @param base as in the store's URL; empty if there is none
   * @throws StaleTokenException if there is no such node: the hold is over, or of another store
   * @throws KeeperException if the ensemble refuses or does not answer
   */
  public static String lockNode(ZooKeeper client, String base, FencingToken token)
      throws KeeperException, InterruptedException {
    String path = new LockPaths(base).of(LockName.of(token.lock()));
    String prefix = ProtectedNodeName.prefix(AttemptId.parse(token.holder()));
    try {
      for (String child : client.getChildren(path, false)) {
        Stat stat =
            child.startsWith(prefix)
                ? client.exists(CuratorAttempt.child(path, child), false)
                : null;
        if (stat != null && CuratorTokens.isOf(stat.getCzxid(), token.value())) {
          return CuratorAttempt.child(path, child);
        }
      }
    } catch (KeeperException.NoNodeException e) {
      // There are no holders or waiters any more.
    }
    throw new StaleTokenException("lock path '" + path + "'", token);
  }

  /**
   * The counterpart of {@code lock(name)} in Curator. Its two recipes on one path do not see each
   * other.
   */
  public enum LockRecipe {
    /** {@code InterProcessMutex}. */
    MUTEX,
    /** {@code InterProcessReadWriteLock}. */
    READ_WRITE
  }
}
