package io.mortise.zookeeper.internal.queue;

import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.jspecify.annotations.Nullable;

/**
 * Locks that this session takes again and again, and nobody else: of these it need not read whether
 * a new node is the only one.
 *
 * <p><b>Why that holds.</b> The numbers of a container's nodes count creations. When this session
 * held exclusively by a node, all earlier ones were gone; if that node is gone as well, and the
 * next one that this session makes has the next number, nobody has made another one, and it is the
 * only one. This needs the same container throughout, for a new one counts from 0 and may have
 * another capacity. So the container is watched since before the earlier node was removed: that it
 * was removed would be told before anything is answered that was done later.
 *
 * <p><b>Tokens.</b> A transaction does not tell its number, but nobody else had a token since the
 * earlier hold, whose 65,536 this one goes on with.
 *
 * <p>A watch stands until its container goes, which the server removes when nobody has used it for
 * a while; there are so many at most. Whatever is not certain is read, as of any other lock. It
 * does no I/O. Guarded by its session.
 */
public final class SoleUserCache {
  private static final int MOST = 1_024;
  private static final int LATELY = 256;

  /** Containers that are watched. */
  private final Map<String, LastHold> watched = new HashMap<>();

  /** Containers of locks that were given back lately, to be watched when they are taken again. */
  private final Set<String> lately = new LinkedHashSet<>();

  /** The last hold of this session that has ended, if one has since the watch was set. */
  static final class LastHold {
    private boolean left;
    private boolean followed;
    private int seq;
    private long rank;
    private int next;

    /** What its successor's tokens are made of, like its own. */
    long rank() {
      return rank;
    }

    /** Where those begin. */
    int next() {
      return next;
    }
  }

  /**
   * Whether an attempt that is about to get a node will most likely be the next one after our last,
   * as the one before was.
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

  /** An attempt of this session has been removed, as it asked. */
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

  /** An attempt has got its node: what the next one does is what this one did. */
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
   * The last hold, if the node of this attempt, which is there, followed right after it: then it is
   * the only one.
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

  /** Something was told about a node, perhaps a container. */
  public void changed(EventType type, String path) {
    if (type != EventType.NodeChildrenChanged) {
      watched.remove(path);
    }
  }

  /** There is no connection: nothing is told any more. */
  public void forget() {
    watched.clear();
    lately.clear();
  }
}
