package io.mortise.zookeeper;

import io.mortise.FencingToken;
import io.mortise.StaleTokenException;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;

/**
 * Writes that go through only as long as no other hold has followed theirs. Each is one {@code
 * multi}: the check and the write, both or neither. From {@link ZkFence#enter}; thread-safe; every
 * method blocks for one round trip.
 *
 * <p>Every method throws {@link StaleTokenException} if the hold is over: nothing was written then.
 * Any other failure is ZooKeeper's own exception; after a connection loss it is unknown whether the
 * write was done.
 */
public final class FencedWrites {
  private final ZooKeeper client;
  private final Op check;
  private final Explainer explainer;

  /** Throws the exception that explains a failed check. */
  @FunctionalInterface
  interface Explainer {
    void explain() throws KeeperException, InterruptedException;
  }

  FencedWrites(ZooKeeper client, Op check, Explainer explainer) {
    this.client = client;
    this.check = check;
    this.explainer = explainer;
  }

  /**
   * Writes that go through as long as the hold's node exists, in the same ensemble. No guard node
   * is needed, since the server deletes the hold's node before the next holder. Coarser than {@link
   * ZkFence#enter}: it tells processes apart, but not the threads within a process that pass on the
   * hold. Sends nothing.
   *
   * @param token the token of the hold
   * @param node the lock's node of that hold, as {@code CuratorStore.lockNode} of {@code
   *     mortise-curator} finds it
   */
  public static FencedWrites whileNodeStands(ZooKeeper client, FencingToken token, String node) {
    return new FencedWrites(
        client,
        Op.check(node, -1),
        () -> {
          throw new StaleTokenException("lock node '" + node + "'", token);
        });
  }

  /**
   * Writes a node's data.
   *
   * @param version the version that it must have; -1 for any
   */
  public Stat setData(String path, byte[] data, int version)
      throws KeeperException, InterruptedException {
    OpResult result = multi(List.of(Op.setData(path, data, version))).get(0);
    return ((OpResult.SetDataResult) result).getStat();
  }

  /**
   * Makes a node.
   *
   * @return its path
   */
  public String create(String path, byte[] data, List<ACL> acl, CreateMode mode)
      throws KeeperException, InterruptedException {
    OpResult result = multi(List.of(Op.create(path, data, acl, mode))).get(0);
    return ((OpResult.CreateResult) result).getPath();
  }

  /**
   * Deletes a node.
   *
   * @param version the version that it must have; -1 for any
   */
  public void delete(String path, int version) throws KeeperException, InterruptedException {
    multi(List.of(Op.delete(path, version)));
  }

  /**
   * Several writes, all or none.
   *
   * @return the results of these
   */
  public List<OpResult> multi(List<Op> writes) throws KeeperException, InterruptedException {
    List<Op> all = new ArrayList<>();
    all.add(check);
    all.addAll(writes);
    try {
      List<OpResult> results = client.multi(all);
      return results.subList(1, results.size());
    } catch (KeeperException e) {
      if (hasCheckFailed(e)) {
        explainer.explain();
      }
      throw e;
    }
  }

  private static boolean hasCheckFailed(KeeperException e) {
    List<OpResult> results = e.getResults();
    if (results == null || results.isEmpty()) {
      return false;
    }
    return results.get(0) instanceof OpResult.ErrorResult error
        && (error.getErr() == Code.BADVERSION.intValue()
            || error.getErr() == Code.NONODE.intValue());
  }
}
