package io.mortise.support.internal.server;

import io.mortise.internal.runtime.FailureText;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks by an identity whether all connections of a store lead to one system. Behind a load
 * balancer over two systems, two processes may hold the same lock, each in another system, so no
 * request is answered while both are seen. A system that has not been seen for a minute counts as
 * gone: a system restored from a backup under another identity can be used then. Thread-safe.
 */
public final class ServerIdentity {
  private static final long MEMORY_NANOS = Duration.ofMinutes(1).toNanos();
  private static final Logger log = LoggerFactory.getLogger(ServerIdentity.class);

  private final String what;
  private final String store;
  private final boolean changesAtOnce;
  private final ReentrantLock guard = new ReentrantLock();

  // Guarded by the lock: the last sighting of each, and the newest.
  private final Map<String, Long> seen = new HashMap<>();
  private @Nullable String newest;
  private boolean inConflict;

  /** The identity of the index; null before there is one. */
  private @Nullable String indexed;

  /** The greatest known index. */
  private long index;

  /** The index from which another system went back; 0 if none did. */
  private long ceiling;

  private ServerIdentity(String what, String store, boolean changesAtOnce) {
    this.what = what;
    this.store = store;
    this.changesAtOnce = changesAtOnce;
  }

  /**
   * An identity that outlives restarts and failover: another one is refused.
   *
   * @param what the kind of system, for messages
   * @param store the store's name in messages
   */
  public static ServerIdentity lasting(String what, String store) {
    return new ServerIdentity(what, store, false);
  }

  /**
   * An identity that a restart replaces: a new one is accepted at once, and refused if the previous
   * one comes back.
   */
  public static ServerIdentity renewedByRestart(String what, String store) {
    return new ServerIdentity(what, store, true);
  }

  /**
   * Records an answer from the system with that identity.
   *
   * @param now the time of a monotonic clock, in nanoseconds
   * @return the problem and the remedy, if another system answers too; null if none does
   */
  public @Nullable String conflict(String identity, long now) {
    guard.lock();
    try {
      seen.values().removeIf(last -> now - last >= MEMORY_NANOS);
      boolean isNew = seen.put(identity, now) == null;
      if (seen.size() == 1) {
        newest = identity;
        inConflict = false;
      } else if (changesAtOnce && isNew) {
        newest = identity;
      } else if (!identity.equals(newest) && !inConflict) {
        inConflict = true;
        log.warn(message());
      }
      return inConflict ? message() : null;
    } finally {
      guard.unlock();
    }
  }

  /** The greatest index of an answer so far. */
  public long index() {
    guard.lock();
    try {
      return index;
    } finally {
      guard.unlock();
    }
  }

  /**
   * Records an answer from systems that may share an identity. Its index is not smaller than any
   * known when its request was sent; a smaller one comes from another system, or from one that has
   * lost data.
   *
   * @param found the index of the answer
   * @param known {@link #index} before the request was sent
   */
  public @Nullable String conflict(String identity, long found, long known, long now) {
    guard.lock();
    try {
      boolean isIndexed = identity.equals(indexed);
      // Not below the present index: it may have been reset since the request was sent.
      if (isIndexed && ceiling == 0 && found < Math.min(known, index)) {
        ceiling = known;
        seen.put(identity, now);
      }
      boolean isBelow = isIndexed && found < ceiling;
      String conflict = conflict(isBelow ? identity + ", with smaller indexes" : identity, now);
      if (conflict == null && (!isIndexed || ceiling > 0)) {
        // The only system left: its indexes start over.
        indexed = identity;
        ceiling = 0;
        index = found;
        seen.clear();
        conflict(identity, now);
      }
      index = isIndexed ? Math.max(index, found) : index;
      return conflict;
    } finally {
      guard.unlock();
    }
  }

  private String message() {
    return "Connections lead to different %s (store=%s): '%s'. Locks in one are not seen in the other. Give an address that leads to one of them; it is used again after a minute."
        .formatted(
            what,
            store,
            seen.keySet().stream()
                .sorted()
                .map(FailureText::quoted)
                .collect(Collectors.joining("', '")));
  }
}
