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
 * Where the tokens of a store begin: above all that were given before the servers lost their data.
 *
 * <p>A token is made of the number of the transaction that made the hold's node, and these numbers
 * begin anew when the data is gone. So a number is added that comes from the time at which the node
 * {@code epoch} was made. It is made together with the store's root, in one transaction, and stays
 * for as long as the data does. A root that is there without it, made by a release that did not
 * know it, goes on without: its processes would give lower tokens than others of the same time.
 *
 * <p>Tokens fall only if there were more than {@link #PER_MILLI} transactions in each millisecond
 * since the root was made, where an election counts as 2^32, so one in 19 hours; or if the leader's
 * clock went back.
 */
public final class TokenEpoch {
  /**
   * 47 bits are 32,768 elections. With 64 in a millisecond the time takes until 2089 to fill them;
   * it leaves two thirds of them to elections until 2043.
   */
  private static final long PER_MILLI = 64;

  private static final long ZERO = Instant.parse("2020-01-01T00:00:00Z").toEpochMilli();

  private TokenEpoch() {}

  /** The steps that make a root, and by that a new beginning; refused if the root is there. */
  public static List<Op> initialNodes(NodeLayout nodeLayout, List<ACL> acl) {
    return List.of(
        Op.create(nodeLayout.root(), new byte[0], acl, CreateMode.CONTAINER),
        Op.create(nodeLayout.epoch(), new byte[0], acl, CreateMode.PERSISTENT));
  }

  /** The number to add to a transaction's number to get a token; 0 without an epoch. */
  public static long base(@Nullable Stat epoch) {
    return epoch == null ? 0 : Math.max(0, epoch.getCtime() - ZERO) * PER_MILLI;
  }

  /** A version that lays out its nodes in another way writes data there. */
  public static boolean isOfAnotherLayout(@Nullable Stat epoch) {
    return epoch != null && epoch.getDataLength() > 0;
  }

  /** The result of a look: the epoch, if the code is OK; null if the root has none. */
  @FunctionalInterface
  public interface EpochCallback {
    void onResult(Code code, @Nullable Stat epoch);
  }

  /**
   * Makes the root if it is missing, and finds where tokens begin. Does not block.
   *
   * @param parents makes what is above the root; called if that is missing
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
            // What was refused has come back by way of the leader: this read is not behind it.
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
