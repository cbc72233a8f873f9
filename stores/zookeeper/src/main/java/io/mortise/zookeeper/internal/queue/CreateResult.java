package io.mortise.zookeeper.internal.queue;

import java.util.OptionalLong;
import org.apache.zookeeper.KeeperException.Code;

/** What became of the creation of an attempt's node. */
public sealed interface CreateResult {
  /** There is no node, or that is not known. */
  record NotMade(Code code) implements CreateResult {}

  /** The removal of this session's last hold was dropped instead: its node is the attempt's. */
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
   * @param czxid a number of which the hold's tokens are made
   */
  record OnlyNode(String path, int capacity, long czxid) implements NodeMade {}

  /** There are more nodes; so many with this one. */
  record AmongOthers(String path, int capacity, int children) implements NodeMade {}
}
