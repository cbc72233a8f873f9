package io.mortise.zookeeper.internal;

import io.mortise.spi.Renewal;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.jspecify.annotations.Nullable;

/**
 * The differences between the layouts in the life of a session, as {@link SessionRenewal} calls
 * them. All methods are called under the session's guard, and do not block.
 */
public interface SessionLayout {
  /**
   * Makes the nodes that a session needs before its first request. Called again if the connection
   * breaks before the answer.
   */
  void open(ZooKeeperConnection connection, long beat, StepCallback then);

  /** Sends the one request of a renewal, which only the leader can answer. */
  void sendRenewal(long beat, StepCallback then);

  /** Runs this once no read is in flight that may bring a notification. */
  void whenSettled(Runnable then);

  /** Requests in flight are answered with a connection loss. */
  default void disconnected() {}

  /** The open session has a connection again. */
  default void reconnected() {}

  /** A node that the connection watches, or its children, changed. */
  default void changed(EventType type, String path) {}

  /**
   * Ends all claims of the session, as none of it is believed any more.
   *
   * @param isTaken whether others may hold by now
   * @param lent the connection of a client that was handed in, to be ignored from now on; its
   *     ZooKeeper session goes on, so the nodes are to be removed one by one. Null if they go with
   *     the ZooKeeper session
   * @param then called under the guard; at the end of the removal if that may be waited for
   */
  void end(boolean isTaken, @Nullable ZooKeeperConnection lent, Runnable then);

  /** Takes the one answer to a step, under the guard. A late answer is ignored. */
  interface StepCallback {
    /**
     * The step is done.
     *
     * @param storeMillis the servers' time, or 0 if unknown
     */
    void succeeded(long storeMillis);

    /** The servers answered with this code, or did not answer. */
    void failed(Code code);

    /** The step shows that the session is lost, or that the servers cannot be used. */
    void refused(Renewal refusal);
  }
}
