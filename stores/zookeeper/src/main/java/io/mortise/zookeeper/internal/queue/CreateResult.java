package io.mortise.zookeeper.internal.queue;

import java.util.OptionalLong;
import org.apache.zookeeper.KeeperException.Code;

/** The result of creating an attempt's node. */
public sealed interface CreateResult {
  /** There is no node, or that is unknown. */
  record NotMade(Code code) implements CreateResult {}

  /**
   * The removal of this session's last hold was dropped instead: its node belongs to the attempt.
   */
  record TakenOver(ZooKeeperAttempt previous) implements CreateResult {}

  /** There is a node. */
  sealed interface NodeMade extends CreateResult {
    String path();
  }

  /**
   * The lock's container was not to be read: the node is expected to be the only one.
   *
   * @param czxid the transaction that created the node, if its number is known
   */
  record ContainerNotRead(String path, OptionalLong czxid) implements NodeMade {}

  /** The read of the lock's container got no answer. */
  record ContainerUnknown(String path) implements NodeMade {}

  /**
   * The node is the only one.
   *
   * @param czxid the number from which the hold's tokens are derived
   */
  record OnlyNode(String path, int capacity, long czxid) implements NodeMade {}

  /** There are other nodes; {@code children} counts this one too. */
  record AmongOthers(String path, int capacity, int children) implements NodeMade {}
}
