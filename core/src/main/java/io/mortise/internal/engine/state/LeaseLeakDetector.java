package io.mortise.internal.engine.state;

import io.mortise.FencingToken;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.function.CheckedSupplier;
import java.lang.ref.Cleaner;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Detects leases that are dropped without being closed, or whose thread has ended before it
 * unlocked: such a lock stays held for as long as its process lives. Watching a lease costs more
 * memory than holding it, so one in 64 is watched: a repeated leak shows soon.
 */
public final class LeaseLeakDetector {
  private static final Logger log = LoggerFactory.getLogger(LeaseLeakDetector.class);
  private static final int SAMPLE = 64;

  /** One thread for all clients of the JVM, started when the first lease is watched. */
  private static final class CleanerHolder {
    static final Cleaner CLEANER = Cleaner.create();
  }

  /** Objects that become unreachable with their thread, by the watched lease. */
  private static final ThreadLocal<Map<LeaseImpl, Object>> OWNED =
      ThreadLocal.withInitial(IdentityHashMap::new);

  private final AtomicInteger count = new AtomicInteger();

  /** The lease itself, or a watched one that behaves the same. The first of a client is watched. */
  public Lease watch(LeaseImpl lease) {
    if (count.getAndIncrement() % SAMPLE != 0) {
      return lease;
    }
    LeakWatchedLease watchedLease = new LeakWatchedLease(lease);
    // The action must not refer to the watched lease, or that would never become unreachable; nor
    // to the lease itself, from which a listener may lead to it. The engine refers to an open
    // lease.
    WeakReference<LeaseImpl> held = new WeakReference<>(lease);
    CleanerHolder.CLEANER.register(watchedLease, () -> dropped(held.get()));
    return watchedLease;
  }

  private static void dropped(@Nullable LeaseImpl lease) {
    if (lease != null && lease.isOpen()) {
      log.warn(
          "A lease on lock '{}' was dropped without being closed (token={}). The lock stays held while this process"
              + " lives. Close leases by try-with-resources.",
          lease.lockName(),
          lease.rawToken());
    }
  }

  /**
   * Marks that only this thread can close the lease, so that its end before that is a leak too;
   * until {@link #disown}.
   */
  public static void own(Lease lease) {
    if (lease instanceof LeakWatchedLease watchedLease) {
      Object owned = new Object();
      OWNED.get().put(watchedLease.lease(), owned);
      WeakReference<LeaseImpl> held = new WeakReference<>(watchedLease.lease());
      String thread = Thread.currentThread().getName();
      CleanerHolder.CLEANER.register(owned, () -> orphaned(held.get(), thread));
    }
  }

  /** Called after the lease was closed. */
  public static void disown(Lease lease) {
    if (lease instanceof LeakWatchedLease watchedLease) {
      Map<LeaseImpl, Object> owned = OWNED.get();
      owned.remove(watchedLease.lease());
      if (owned.isEmpty()) {
        OWNED.remove();
      }
    }
  }

  private static void orphaned(@Nullable LeaseImpl lease, String thread) {
    if (lease != null && lease.isOpen()) {
      log.warn(
          "Thread '{}' has ended without unlocking '{}' (token={}). The lock stays held while this process lives."
              + " Unlock in a finally block.",
          thread,
          lease.lockName(),
          lease.rawToken());
    }
  }

  /** The lease behind the result of {@link #watch}. */
  public static LeaseImpl unwrap(Lease lease) {
    return lease instanceof LeakWatchedLease watchedLease
        ? watchedLease.lease()
        : (LeaseImpl) lease;
  }

  private record LeakWatchedLease(LeaseImpl lease) implements Lease {
    @Override
    public String name() {
      return lease.name();
    }

    @Override
    public long token() {
      return lease.token();
    }

    @Override
    public FencingToken fencingToken() {
      return lease.fencingToken();
    }

    @Override
    public State state() {
      return lease.state();
    }

    @Override
    public boolean isValid() {
      return lease.isValid();
    }

    @Override
    public Duration remaining() {
      return lease.remaining();
    }

    @Override
    public void ensureValid() {
      lease.ensureValid();
    }

    @Override
    public void onLost(Consumer<? super LeaseLostException> listener) {
      lease.onLost(listener);
    }

    @Override
    public <T extends @Nullable Object, X extends Exception> T run(CheckedSupplier<T, X> task)
        throws X {
      return lease.run(task);
    }

    @Override
    public void extend(Duration atMost) {
      lease.extend(atMost);
    }

    @Override
    public void keepShut(Duration atLeast) {
      lease.keepShut(atLeast);
    }

    @Override
    public void downgrade() {
      lease.downgrade();
    }

    @Override
    public CompletableFuture<Void> releaseAsync() {
      return lease.releaseAsync();
    }

    @Override
    public void close() {
      lease.close();
    }

    @Override
    public String toString() {
      return lease.toString();
    }
  }
}
