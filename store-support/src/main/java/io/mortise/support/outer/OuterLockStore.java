package io.mortise.support.outer;

import io.mortise.LockName;
import io.mortise.OuterLocks;
import io.mortise.spi.LockStore;
import io.mortise.spi.PartitionedStore;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import io.mortise.spi.time.Ticker;
import io.mortise.support.liveness.ForwardingStore;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/** A store whose sessions hold a lock of another library around each of their own. Thread-safe. */
class OuterLockStore extends ForwardingStore {
  private final OuterLocks outer;
  private final Duration ttl;
  private final Ticker ticker;

  private OuterLockStore(LockStore store, OuterLocks outer, Duration ttl, Ticker ticker) {
    super(store);
    this.outer = outer;
    this.ttl = ttl;
    this.ticker = ticker;
  }

  @Override
  public StoreSession open(SessionSpec spec, Consumer<SessionNotification> hints) {
    return OuterLockSession.around(super::open, spec, hints, outer, ttl, ticker);
  }

  /** The answer may wait for the other library, on a thread that the store does not know. */
  @Override
  public void helpWhileWaiting(BooleanSupplier done, Duration longest) {}

  /** Puts outer locks around the locks of a store, or of its parts. */
  static LockStore around(LockStore store, OuterLocks outer, Duration ttl, Ticker ticker) {
    return store instanceof PartitionedStore parts
        ? new Parts(parts, outer, ttl, ticker)
        : new OuterLockStore(store, outer, ttl, ticker);
  }

  /** The same of a store with parts, each of which has sessions of its own. */
  private static final class Parts extends OuterLockStore implements PartitionedStore {
    private final PartitionedStore parts;
    private final List<LockStore> around;

    Parts(PartitionedStore parts, OuterLocks outer, Duration ttl, Ticker ticker) {
      super(parts, outer, ttl, ticker);
      this.parts = parts;
      this.around =
          IntStream.range(0, parts.partitions())
              .<LockStore>mapToObj(
                  number -> new OuterLockStore(parts.partition(number), outer, ttl, ticker))
              .toList();
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
      return around.get(number);
    }
  }
}
