package io.mortise.zookeeper;

import io.mortise.spi.LockStore;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;
import io.mortise.spi.time.WallClock;
import java.util.concurrent.Callable;
import org.apache.zookeeper.ZooKeeper;

/**
 * Opens stores in ZooKeeper, 3.6 or later: each attempt at a lock is an ephemeral sequential node.
 *
 * <p>A ZooKeeper lock has a limit: a holder that is paused for longer than its TTL may have lost
 * the lock before it wakes up. Its fencing token, from the transaction that made its node, is then
 * smaller than that of the next holder, also when servers fail over: a majority has every
 * transaction that was acknowledged.
 *
 * <p>Lower bounds for tokens are refused with {@link io.mortise.UnsupportedByStoreException}.
 */
public final class ZooKeeperStore {
  private ZooKeeperStore() {}

  /**
   * Connects to {@code zk://[user:password@]host:port[,host:port…][/path]}. Parameters: {@code
   * namespace}, {@code timeout}, {@code tick}, {@code acl} ({@code open}, or {@code creator} if
   * there is a user, who is authenticated by the scheme {@code digest}), {@code tls}, and with it
   * {@code ca}, {@code keystore}, {@code keystore-password}, {@code verify-host}. Blocks, for the
   * timeout if no server answers.
   *
   * @throws IllegalArgumentException if the URL has an unknown or wrong parameter
   * @throws io.mortise.StoreUnavailableException if no server can be reached
   * @throws io.mortise.StoreUnfitException if one can, but must not be used as it is
   */
  public static LockStore open(String url) {
    return ZooKeeperLockStore.connect(StoreUrl.parse(url), Ticker.SYSTEM, WallClock.SYSTEM);
  }

  /**
   * Uses a connected client. Its ZooKeeper session becomes that of the locks, and stays open when
   * the store is closed. A session timeout below the lock client's TTL is refused; below four
   * thirds of it plus two ticks of the servers a renewal is answered a tick later. Once its session
   * has expired the store is unusable. Blocks.
   *
   * @throws io.mortise.StoreUnavailableException if the client is not connected in time
   * @throws io.mortise.StoreUnfitException if the servers must not be used as they are
   */
  public static LockStore over(ZooKeeper client, ZooKeeperOptions options) {
    return over(() -> client, options);
  }

  /**
   * Uses connected clients, as {@link #over(ZooKeeper, ZooKeeperOptions)} does. The source is asked
   * for the current client whenever a session begins, so that a new client can follow one whose
   * session has expired. For a {@code CuratorFramework} the source is {@code () ->
   * curator.getZookeeperClient().getZooKeeper()}; its namespace is not applied. The source may
   * block for a moment, and is called on threads where blocking is allowed.
   *
   * @throws io.mortise.StoreUnavailableException if the client is not connected in time
   * @throws io.mortise.StoreUnfitException if the servers must not be used as they are
   */
  public static LockStore over(Callable<ZooKeeper> clients, ZooKeeperOptions options) {
    return ZooKeeperLockStore.over(clients, options, Ticker.SYSTEM, WallClock.SYSTEM);
  }
}
