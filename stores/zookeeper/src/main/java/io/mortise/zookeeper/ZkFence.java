package io.mortise.zookeeper;

import io.mortise.FencingToken;
import io.mortise.Lease;
import io.mortise.LockName;
import io.mortise.StaleTokenException;
import io.mortise.zookeeper.internal.node.NodeNames;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Lets only the current holder of a lock write to nodes of an ensemble. Each lock has one guard
 * node, with the latest token seen and its holder.
 *
 * <pre>{@code
 * FencedWrites fenced = fence.enter(lease);                // first: before anything is read
 * byte[] balance = client.getData("/account/42", false, null);
 * fenced.setData("/account/42", less(balance), -1);        // StaleTokenException: a later holder was here
 * }</pre>
 *
 * <p>{@link #enter} installs the token in the guard node. Every write then is one {@code multi} of
 * a check that the guard still has that version, and the write itself: the leader does both or
 * neither. So a paused holder writes nothing more once a later one has entered, however long and at
 * whatever point it was paused. That needs no assumption about clocks, provided that every writer
 * enters before it reads. The lock may be in any store with tokens; it need not be in the same
 * ensemble.
 *
 * <p>Guard nodes are never deleted; do not delete them while an old token may still be in use.
 * Thread-safe. The caller owns the client: after the end of its session make a new fence over the
 * new client and enter again.
 */
public final class ZkFence {
  private final ZooKeeper client;
  private final String folder;
  private final List<ACL> acl;

  private ZkFence(ZooKeeper client, String folder, List<ACL> acl) {
    this.client = client;
    this.folder = folder;
    // Not List.copyOf: the client asks its lists whether they contain null, which such a list
    // refuses.
    this.acl = new ArrayList<>(acl);
  }

  /**
   * A fence whose guard nodes are in a folder, open to all clients. Sends nothing.
   *
   * @param folder made when it is first needed
   */
  public static ZkFence under(ZooKeeper client, String folder) {
    return under(client, folder, Ids.OPEN_ACL_UNSAFE);
  }

  /**
   * As {@link #under(ZooKeeper, String)}, with an ACL for the folder and the guard nodes. A client
   * that enters needs the rights to read, write and create there; a client with the right to delete
   * can forge.
   */
  public static ZkFence under(ZooKeeper client, String folder, List<ACL> acl) {
    return new ZkFence(client, folder, acl);
  }

  /**
   * Enters as {@link #enter(FencingToken)}.
   *
   * @throws io.mortise.LeaseLostException if the lease is lost
   * @throws io.mortise.LeaseInDoubtException if it is in doubt, after a restart of its store
   * @throws IllegalStateException if the lease is not exclusive
   */
  public FencedWrites enter(Lease lease) throws KeeperException, InterruptedException {
    return enter(lease.fencingToken());
  }

  /**
   * Installs the token, so that earlier ones are refused from now on. Call it before you read: data
   * read before may be stale. May be called again with the same token, after a connection loss for
   * example. Blocks for two round trips, a few more the first time.
   *
   * @throws StaleTokenException if a later token was seen, or the same from another holder
   * @throws KeeperException if the ensemble refuses or does not answer; whether the token is
   *     installed is unknown
   */
  public FencedWrites enter(FencingToken token) throws KeeperException, InterruptedException {
    String guard = guard(token.lock());
    byte[] shown = (token.value() + " " + token.holder()).getBytes(StandardCharsets.US_ASCII);
    while (true) {
      GuardRecord seen = read(guard);
      if (seen == null) {
        makeFolder();
      } else {
        seen.refuse(token, guard);
        if (seen.token() == token.value()) {
          return writes(token, guard, seen.version());
        }
      }
      try {
        if (seen == null) {
          client.create(guard, shown, acl, CreateMode.PERSISTENT);
          return writes(token, guard, 0);
        }
        Stat stat = client.setData(guard, shown, seen.version());
        return writes(token, guard, stat.getVersion());
      } catch (KeeperException.BadVersionException | KeeperException.NodeExistsException e) {
        // Another client entered in between, or this server lags behind.
        sync(guard);
      }
    }
  }

  private FencedWrites writes(FencingToken token, String guard, int version) {
    return new FencedWrites(
        client,
        Op.check(guard, version),
        () -> {
          sync(guard);
          GuardRecord seen = read(guard);
          if (seen != null) {
            seen.refuse(token, guard);
          }
        });
  }

  /**
   * The latest token seen for a lock, as the connected server knows it; for display, and for moving
   * to another store. Blocks for one round trip.
   *
   * @return empty if there is none yet
   */
  public OptionalLong latest(String lock) throws KeeperException, InterruptedException {
    GuardRecord seen = read(guard(lock));
    return seen == null ? OptionalLong.empty() : OptionalLong.of(seen.token());
  }

  private String guard(String lock) {
    return folder + "/" + NodeNames.encode(LockName.of(lock));
  }

  /** The content of a guard node. */
  private record GuardRecord(long token, String holder, int version) {
    void refuse(FencingToken shown, String guard) {
      if (token > shown.value() || (token == shown.value() && !holder.equals(shown.holder()))) {
        throw new StaleTokenException("guard node '" + guard + "'", shown, token, holder);
      }
    }
  }

  private @Nullable GuardRecord read(String guard) throws KeeperException, InterruptedException {
    Stat stat = new Stat();
    byte[] data;
    try {
      data = client.getData(guard, false, stat);
    } catch (KeeperException.NoNodeException e) {
      return null;
    }
    String text = data == null ? "" : new String(data, StandardCharsets.US_ASCII);
    int blank = text.indexOf(' ');
    if (blank < 1 || !text.substring(0, blank).matches("\\d{1,19}")) {
      throw new IllegalStateException(
          "Node '" + guard + "' is no guard node: it holds no token. Use another folder.");
    }
    return new GuardRecord(
        Long.parseLong(text.substring(0, blank)), text.substring(blank + 1), stat.getVersion());
  }

  private void makeFolder() throws KeeperException, InterruptedException {
    if (client.exists(folder, false) != null) {
      return;
    }
    for (int slash = folder.indexOf('/', 1); ; slash = folder.indexOf('/', slash + 1)) {
      try {
        client.create(
            slash < 0 ? folder : folder.substring(0, slash),
            new byte[0],
            acl,
            CreateMode.PERSISTENT);
      } catch (KeeperException.NodeExistsException e) {
        // Still the same: entered.
      }
      if (slash < 0) {
        return;
      }
    }
  }

  /** Brings the connected server up to date, so that the next read sees the latest. */
  private void sync(String path) throws InterruptedException {
    CountDownLatch answered = new CountDownLatch(1);
    client.sync(path, (rc, asked, context) -> answered.countDown(), null);
    answered.await();
  }
}
