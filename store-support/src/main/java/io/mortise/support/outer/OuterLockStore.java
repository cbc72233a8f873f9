package io.mortise.support.outer;

import io.mortise.LockName;
import io.mortise.OuterLocks;
import io.mortise.internal.outer.OuterLockProvider;
import io.mortise.spi.LockStore;
import io.mortise.spi.PartitionedStore;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import io.mortise.support.liveness.ForwardingStore;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** A store whose sessions hold a lock of another library around each of their own. Thread-safe. */
public class OuterLockStore extends ForwardingStore {
  private final OuterLocks outer;
  private final Duration ttl;

  private OuterLockStore(LockStore store, OuterLocks outer, Duration ttl) {
    super(store);
    this.outer = outer;
    this.ttl = ttl;
  }

  @Override
  public StoreSession open(SessionSpec spec, Consumer<SessionNotification> hints) {
    return OuterLockSession.around(super::open, spec, hints, outer, ttl);
  }

  /** The answer may wait for the other library, on a thread that the store does not know. */
  @Override
  public void helpWhileWaiting(BooleanSupplier done, Duration longest) {}

  /** Makes such stores. */
  public static final class Provider implements OuterLockProvider {
    /** Called by {@link java.util.ServiceLoader}. */
    public Provider() {}

    @Override
    public LockStore around(LockStore store, OuterLocks outer, Duration ttl) {
      return store instanceof PartitionedStore parts
          ? new Parts(parts, outer, ttl)
          : new OuterLockStore(store, outer, ttl);
    }
  }

  /** The same of a store with parts, each of which has sessions of its own. */
  private static final class Parts extends OuterLockStore implements PartitionedStore {
    private final PartitionedStore parts;
    private final OuterLocks outer;
    private final Duration ttl;

    Parts(PartitionedStore parts, OuterLocks outer, Duration ttl) {
      super(parts, outer, ttl);
      this.parts = parts;
      this.outer = outer;
      this.ttl = ttl;
    }

    @Override
    public int partitions() {
      return parts.partitions();
    }

    @Override
    public int partitionOf(LockName name) {
      return parts.partitionOf(name);
    }

    @Override
    public LockStore partition(int number) {
      return new OuterLockStore(parts.partition(number), outer, ttl);
    }
  }
}
