package io.mortise.bench.subject;

import io.mortise.DistributedLock;
import io.mortise.GroupLease;
import io.mortise.JavaLock;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockGroup;
import io.mortise.LockOptions;
import io.mortise.admin.StoreInfo.Feature;
import io.mortise.event.LockListener;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Mortise over any store, with one set of options. Reads the token of every grant that has one. */
public final class MortiseLocks implements Subject {
  static final LockOptions FAIR = LockOptions.DEFAULTS.withFair(true);
  static final LockOptions ASYNC = LockOptions.DEFAULTS.withReleaseAsync(true);
  static final LockOptions STICKY = LockOptions.DEFAULTS.withSticky(LockOptions.LONGEST_STICKY);

  /** More idle locks than any workload has. */
  private static final int MOST_IDLE = 1_000_000;

  /** Acquires in flight in workloads with many locks. */
  private static final int WIDTH = 512;

  private final LockClient client;
  private final LockOptions options;

  MortiseLocks(String url, LockOptions options) {
    this(LockClient.builder().url(url).maxIdleLocks(MOST_IDLE).build(), options);
  }

  private MortiseLocks(LockClient client, LockOptions options) {
    this.client = client;
    this.options = options;
  }

  /** Locks in memory, with a listener. */
  static MortiseLocks heardBy(LockListener listener) {
    return new MortiseLocks(
        LockClient.builder().url("mem:").listener(listener).build(), LockOptions.DEFAULTS);
  }

  @Override
  public LockHandle lockHandle(String name) {
    boolean hasTokens = client.admin().store().has(Feature.FENCING_TOKENS);
    return new LeaseHandle(client.lock(name, options), hasTokens);
  }

  @Override
  public LockHandle groupHandle(List<String> locks) {
    LockGroup group = client.allOf(locks.toArray(String[]::new));
    return new LockHandle() {
      private @Nullable GroupLease lease;

      @Override
      public boolean take(long waitMillis) throws InterruptedException {
        lease = group.tryAcquire(Duration.ofMillis(waitMillis)).orElse(null);
        return lease != null;
      }

      @Override
      public void release() {
        if (lease != null) {
          lease.close();
        }
      }
    };
  }

  @Override
  public Object hold(String name, long waitMillis) throws InterruptedException {
    return client.lock(name, options).acquireWithin(Duration.ofMillis(waitMillis));
  }

  @Override
  public LockedCall call(String name) {
    DistributedLock lock = client.lock(name, options);
    return argument -> lock.<Long, RuntimeException>withLock(() -> argument);
  }

  /** Acquires and releases many locks, with several in flight. Blocks. */
  public void passAll(String prefix, int count) throws InterruptedException {
    Semaphore width = new Semaphore(WIDTH);
    AtomicReference<Throwable> failed = new AtomicReference<>();
    for (int i = 0; i < count; i++) {
      width.acquire();
      var unused =
          client
              .lock(prefix + i, options)
              .acquireAsync()
              .thenAccept(Lease::close)
              .whenComplete(
                  (done, failure) -> {
                    width.release();
                    if (failure != null) {
                      failed.set(failure);
                    }
                  });
    }
    width.acquire(WIDTH);
    if (failed.get() != null) {
      throw new IllegalStateException("A lock could not be taken.", failed.get());
    }
  }

  /** Returns a reentrant view of a lock. */
  public JavaLock javaLock(String name) {
    return client.lock(name, options).asJavaLock();
  }

  @Override
  public void close() {
    client.close();
  }

  private static final class LeaseHandle implements LockHandle {
    private final DistributedLock lock;
    private final boolean hasTokens;
    private @Nullable Lease lease;
    private long lastToken;

    LeaseHandle(DistributedLock lock, boolean hasTokens) {
      this.lock = lock;
      this.hasTokens = hasTokens;
    }

    @Override
    public boolean take(long waitMillis) throws InterruptedException {
      Optional<Lease> granted = lock.tryAcquire(Duration.ofMillis(waitMillis));
      if (granted.isEmpty()) {
        return false;
      }
      lease = granted.get();
      long token = hasTokens ? lease.token() : lastToken + 1;
      if (token <= lastToken) {
        throw new IllegalStateException(
            "Token " + token + " of lock '" + lock.name() + "' came after " + lastToken + ".");
      }
      lastToken = token;
      return true;
    }

    @Override
    public void release() {
      Lease held = lease;
      lease = null;
      if (held != null) {
        held.close();
      }
    }
  }

  /** Receives all events and does nothing. */
  static final class SilentListener implements LockListener {
    @Override
    public void onAcquireStarted(AcquireStarted event) {}

    @Override
    public void onAcquireQueued(AcquireQueued event) {}

    @Override
    public void onAcquireEnded(AcquireEnded event) {}

    @Override
    public void onLeaseEnded(LeaseEnded event) {}

    @Override
    public void onSessionRenewed(SessionRenewed event) {}

    @Override
    public void onSessionChanged(SessionChanged event) {}
  }
}
