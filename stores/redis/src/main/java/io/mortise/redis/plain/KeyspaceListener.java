package io.mortise.redis.plain;

import io.mortise.redis.transport.RedisTransport;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Listens for the end of keys that local attempts wait for, if the server publishes it by keyspace
 * notifications or as the layout's own clients do. These are only hints: nothing depends on them.
 */
final class KeyspaceListener {
  private static final Set<String> GONE = Set.of("del", "expired", "evicted", "unlink");

  private final RedisTransport transport;
  private final KeyLayout layout;
  private final int database;
  private final ReentrantLock guard = new ReentrantLock();
  private final Map<String, Set<Runnable>> listeners = new HashMap<>();

  /**
   * Listens over a transport.
   *
   * @param database the one whose key events are published; -1 if none are
   */
  KeyspaceListener(RedisTransport transport, KeyLayout layout, int database) {
    this.transport = transport;
    this.layout = layout;
    this.database = database;
  }

  /** Whether the setting publishes, per key (K), deletions (g) and expiries (x), or all (A). */
  static boolean isEnough(String setting) {
    return setting.contains("K")
        && (setting.contains("A") || (setting.contains("g") && setting.contains("x")));
  }

  boolean isUseful() {
    return database >= 0 || layout.channelOfReleases("") != null;
  }

  private @Nullable String keyspace(String key) {
    return database < 0 ? null : "__keyspace@" + database + "__:" + key;
  }

  /** Calls the listener on a thread of the transport when the key is gone. */
  void add(String key, Runnable listener) {
    change(key, listeners -> listeners.add(listener));
  }

  void remove(String key, Runnable listener) {
    change(key, listeners -> listeners.remove(listener));
  }

  private interface ListenerChange {
    boolean apply(Set<Runnable> listeners);
  }

  private void change(String key, ListenerChange listenerChange) {
    guard.lock();
    try {
      Set<Runnable> known = listeners.computeIfAbsent(key, absent -> new LinkedHashSet<>());
      boolean before = !known.isEmpty();
      listenerChange.apply(known);
      boolean after = !known.isEmpty();
      if (!after) {
        listeners.remove(key);
      }
      if (before != after) {
        // Under the lock, so that subscribing to a key and unsubscribing keep their order.
        transport.execute(() -> subscribe(key, after));
      }
    } finally {
      guard.unlock();
    }
  }

  private void subscribe(String key, boolean on) {
    String keyspace = keyspace(key);
    if (keyspace != null && on) {
      transport.subscribe(
          keyspace,
          event -> {
            if (GONE.contains(event)) {
              tell(key);
            }
          });
    } else if (keyspace != null) {
      transport.unsubscribe(keyspace);
    }
    String releases = layout.channelOfReleases(key);
    if (releases != null && on) {
      transport.subscribe(releases, message -> tell(key));
    } else if (releases != null) {
      transport.unsubscribe(releases);
    }
  }

  private void tell(String key) {
    List<Runnable> told;
    guard.lock();
    try {
      told = List.copyOf(listeners.getOrDefault(key, Set.of()));
    } finally {
      guard.unlock();
    }
    told.forEach(Runnable::run);
  }
}
