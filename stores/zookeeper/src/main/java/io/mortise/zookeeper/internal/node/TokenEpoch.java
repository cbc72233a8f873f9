package io.mortise.zookeeper.internal.node;

import java.time.Instant;
import java.util.List;
import java.util.function.Consumer;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * The start of a store's tokens: above all tokens that were granted before the servers lost their
 * data.
 *
 * <p>A token is made of the number of the transaction that made the hold's node, and these numbers
 * begin anew when the data is gone. So a number is added that comes from the creation time of the
 * node {@code epoch}. That node is made together with the store's root, in one transaction, and
 * lasts as long as the data. A root made by a release without epochs goes on without one, since its
 * processes would grant lower tokens than others at the same time.
 *
 * <p>Tokens fall only in two cases. There were more than {@link #PER_MILLI} transactions in each
 * millisecond since the root was made, where an election counts as 2^32, so one in 19 hours. Or the
 * leader's clock went back.
 */
public final class TokenEpoch {
  /**
   * 47 bits are 32,768 elections. At 64 transactions a millisecond, time fills them by 2089; until
   * 2043 it leaves two thirds of them to elections.
   */
  private static final long PER_MILLI = 64;

  private static final long ZERO = Instant.parse("2020-01-01T00:00:00Z").toEpochMilli();

  private TokenEpoch() {}

  /** The operations that make a root, and with it a new epoch; refused if the root exists. */
  public static List<Op> initialNodes(NodeLayout nodeLayout, List<ACL> acl) {
    return List.of(
        Op.create(nodeLayout.root(), new byte[0], acl, CreateMode.CONTAINER),
        Op.create(nodeLayout.epoch(), new byte[0], acl, CreateMode.PERSISTENT));
  }

  /** The number to add to a transaction's number to get a token; 0 without an epoch. */
  public static long base(@Nullable Stat epoch) {
    return epoch == null ? 0 : Math.max(0, epoch.getCtime() - ZERO) * PER_MILLI;
  }

  /** A version with another layout of nodes writes data there. */
  public static boolean isOfAnotherLayout(@Nullable Stat epoch) {
    return epoch != null && epoch.getDataLength() > 0;
  }

  /** Takes the result of a read: the epoch, if the code is OK; null if the root has none. */
  @FunctionalInterface
  public interface EpochCallback {
    void onResult(Code code, @Nullable Stat epoch);
  }

  /**
   * Makes the root if it is missing, and reads the epoch. Does not block.
   *
   * @param parents makes the ancestors of the root; called if they are missing
   */
  public static void find(
      ZooKeeper client,
      NodeLayout nodeLayout,
      List<ACL> acl,
      Consumer<String> parents,
      EpochCallback epochCallback) {
    client.exists(
        nodeLayout.epoch(),
        false,
        (rc, path, context, stat) -> {
          if (rc == Code.NONODE.intValue()) {
            make(client, nodeLayout, acl, parents, 0, epochCallback);
          } else {
            epochCallback.onResult(Code.get(rc), stat);
          }
        },
        null);
  }

  private static void make(
      ZooKeeper client,
      NodeLayout nodeLayout,
      List<ACL> acl,
      Consumer<String> parents,
      int tries,
      EpochCallback epochCallback) {
    client.multi(
        initialNodes(nodeLayout, acl),
        (rc, path, context, results) -> {
          String above = NodeLayout.parent(nodeLayout.root());
          if (rc == Code.NONODE.intValue() && tries < 3 && !above.isEmpty()) {
            parents.accept(above);
            make(client, nodeLayout, acl, parents, tries + 1, epochCallback);
          } else if (rc == 0 || rc == Code.NODEEXISTS.intValue()) {
            // The refusal came by way of the leader, so this read is behind it.
            client.exists(
                nodeLayout.epoch(),
                false,
                (again, asked, given, stat) -> {
                  boolean isOld = again == Code.NONODE.intValue();
                  epochCallback.onResult(isOld ? Code.OK : Code.get(again), stat);
                },
                null);
          } else {
            epochCallback.onResult(Code.get(rc), null);
          }
        },
        null);
  }
}
