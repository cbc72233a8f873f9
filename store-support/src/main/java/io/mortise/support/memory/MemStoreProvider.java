package io.mortise.support.memory;

import io.mortise.spi.LockStore;
import io.mortise.spi.LockStoreProvider;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;
import io.mortise.spi.time.WallClock;
import io.mortise.support.liveness.ForwardingStore;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Opens {@code mem:} and {@code mem:NAME}: one store for each name in this JVM, as long as it is
 * open. Thread-safe.
 */
public final class MemStoreProvider implements LockStoreProvider {
  private static final ReentrantLock guard = new ReentrantLock();

  /** Static: a provider is created for each look-up, and all clients of a name share a store. */
  private static final Map<String, SharedMemStore> open = new HashMap<>();

  private static final class SharedMemStore {
    final MemStore store;
    int users;

    SharedMemStore(String name) {
      this.store = new MemStore(name, Ticker.SYSTEM, WallClock.SYSTEM);
    }
  }

  @Override
  public Set<String> schemes() {
    return Set.of("mem");
  }

  @Override
  public LockStore open(StoreUrl url) {
    url.allowOnly(Set.of());
    String name = url.base();
    guard.lock();
    try {
      SharedMemStore shared = open.computeIfAbsent(name, SharedMemStore::new);
      shared.users++;
      return new MemStoreHandle(name, shared);
    } finally {
      guard.unlock();
    }
  }

  /** One user's view of a store that others may have open, too. */
  private static final class MemStoreHandle extends ForwardingStore {
    private final String name;
    private final SharedMemStore shared;
    private boolean closed;

    MemStoreHandle(String name, SharedMemStore shared) {
      super(shared.store);
      this.name = name;
      this.shared = shared;
    }

    @Override
    public void close() {
      guard.lock();
      try {
        if (closed) {
          return;
        }
        closed = true;
        shared.users--;
        if (shared.users == 0) {
          open.remove(name);
          shared.store.close();
        }
      } finally {
        guard.unlock();
      }
    }
  }
}
