package io.mortise.zookeeper.internal.queue;

import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.jspecify.annotations.Nullable;

/**
 * Locks that only this session takes, again and again. Re-acquiring one skips the read that shows
 * whether the new node is the only one.
 *
 * <p><b>Why that is safe.</b> The numbers of a container's nodes count creations. When this session
 * held exclusively by a node, all earlier nodes were gone. If that node is gone as well, and this
 * session's next node has the next number, no other node was made in between, and it is the only
 * one. This needs the same container throughout, since a new one counts from 0 and may have another
 * capacity. So the container is watched from before the earlier node's removal: a removal of the
 * container would be reported before the answer to any later request.
 *
 * <p><b>Tokens.</b> A transaction does not return its number. But no token was granted since the
 * earlier hold, whose 65,536 tokens this one continues.
 *
 * <p>A watch lasts until the server removes its unused container; the number of watches is bounded.
 * In any doubt the container is read, as for any other lock. It does no I/O. Guarded by its
 * session.
 */
public final class SoleUserCache {
  private static final int MOST = 1_024;
  private static final int LATELY = 256;

  /** Containers that are watched. */
  private final Map<String, LastHold> watched = new HashMap<>();

  /** Containers of recently released locks, to be watched when the locks are taken again. */
  private final Set<String> lately = new LinkedHashSet<>();

  /** The last hold of this session that has ended since the watch was set, if any. */
  static final class LastHold {
    private boolean left;
    private boolean followed;
    private int seq;
    private long rank;
    private int next;

    /** The part of a token from which its successor's tokens are derived, like its own. */
    long rank() {
      return rank;
    }

    /** The offset at which the successor's tokens begin. */
    int next() {
      return next;
    }
  }

  /**
   * Whether an attempt that is about to get a node will most likely follow directly on our last
   * one, as the previous attempt did.
   */
  public boolean expects(String lock, ZooKeeperAttempt zooKeeperAttempt) {
    LastHold lastHold = watched.get(lock);
    return lastHold != null
        && zooKeeperAttempt.isExclusive()
        && lastHold.followed
        && hasTokens(lastHold, zooKeeperAttempt);
  }

  /** Whether the container of a lock that is taken now should be watched from now on. */
  public boolean wantsWatch(String lock, ZooKeeperAttempt zooKeeperAttempt) {
    return zooKeeperAttempt.isExclusive()
        && !watched.containsKey(lock)
        && lately.remove(lock)
        && watched.size() < MOST;
  }

  /** The container is watched. */
  public void watches(String lock) {
    watched.putIfAbsent(lock, new LastHold());
  }

  private static boolean hasTokens(LastHold lastHold, ZooKeeperAttempt zooKeeperAttempt) {
    return lastHold.next + zooKeeperAttempt.tokens <= ZooKeeperAttempt.TOKENS;
  }

  /** An attempt of this session was removed at its own request. */
  void left(String lock, ZooKeeperAttempt zooKeeperAttempt) {
    if (!zooKeeperAttempt.wasHeld() || !zooKeeperAttempt.isExclusive()) {
      return;
    }
    LastHold lastHold = watched.get(lock);
    if (lastHold == null) {
      lately.remove(lock);
      lately.add(lock);
      if (lately.size() > LATELY) {
        Iterator<String> eldest = lately.iterator();
        eldest.next();
        eldest.remove();
      }
    } else {
      lastHold.left = true;
      lastHold.seq = zooKeeperAttempt.seq;
      lastHold.rank = zooKeeperAttempt.rank();
      lastHold.next = zooKeeperAttempt.next();
    }
  }

  /** An attempt has got its node: the next one's outcome is predicted from this one's. */
  void came(String lock, ZooKeeperAttempt zooKeeperAttempt) {
    LastHold lastHold = watched.get(lock);
    if (lastHold != null) {
      lastHold.followed =
          zooKeeperAttempt.isExclusive()
              && lastHold.left
              && lastHold.seq + 1 == zooKeeperAttempt.seq;
    }
  }

  /**
   * The last hold, if the existing node of this attempt followed directly on it: then it is the
   * only one.
   */
  @Nullable LastHold before(String lock, ZooKeeperAttempt zooKeeperAttempt) {
    LastHold lastHold = watched.get(lock);
    return lastHold != null
            && lastHold.left
            && lastHold.seq + 1 == zooKeeperAttempt.seq
            && zooKeeperAttempt.isExclusive()
            && hasTokens(lastHold, zooKeeperAttempt)
        ? lastHold
        : null;
  }

  /** An event came for a node, perhaps a container. */
  public void changed(EventType type, String path) {
    if (type != EventType.NodeChildrenChanged) {
      watched.remove(path);
    }
  }

  /** There is no connection: events are no longer reported. */
  public void forget() {
    watched.clear();
    lately.clear();
  }
}
