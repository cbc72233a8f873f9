package io.mortise.zookeeper.internal.queue;

import io.mortise.spi.SessionSpec;
import io.mortise.zookeeper.internal.node.AtLeastMark;
import java.time.Duration;

/** The properties of a session that its queues read, and cannot change. */
public interface SessionFacts {
  SessionSpec spec();

  /** The store's name in messages. */
  String display();

  /** Whether requests can be sent now, as far as is known. */
  boolean isUp();

  /** The number of the ZooKeeper session that owns the nodes of the session. */
  long zooKeeperSession();

  /**
   * Records an at-least time that was read, or whose start was written, just now.
   *
   * @return how long this process must still know of it
   */
  Duration atLeastLeft(AtLeastMark mark);

  /** The part of a token above its lower 16 bits, for the node that this transaction created. */
  long tokenRank(long czxid);
}
