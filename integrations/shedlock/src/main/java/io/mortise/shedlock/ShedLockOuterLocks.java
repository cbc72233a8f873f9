package io.mortise.shedlock;

import io.mortise.OuterLocks;
import io.mortise.annotation.Beta;
import io.mortise.spi.time.Ticker;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.jspecify.annotations.Nullable;

/**
 * ShedLock's locks, held around those of a client while processes that use only ShedLock still run,
 * for jobs that lose the annotation. Jobs that keep it need {@link MortiseLockProvider#alsoHolding}
 * instead. Thread-safe.
 */
@Beta
public final class ShedLockOuterLocks implements OuterLocks {
  private static final Duration SHORTEST = Duration.ofSeconds(1);

  private final LockProvider provider;
  private final Duration atMost;
  private final Ticker ticker;

  private ShedLockOuterLocks(LockProvider provider, Duration atMost, Ticker ticker) {
    this.provider = provider;
    this.atMost = atMost;
    this.ticker = ticker;
  }

  /**
   * Locks of a provider. Does not block.
   *
   * @param atMost how long ShedLock's lock outlives a crash. It is extended each third of the
   *     client's TTL, so give more than that; of a provider that cannot extend, more than the
   *     longest job: the lease is lost at its end
   * @throws IllegalArgumentException if it is shorter than a second
   */
  public static ShedLockOuterLocks of(LockProvider provider, Duration atMost) {
    Objects.requireNonNull(provider, "provider");
    if (atMost.compareTo(SHORTEST) < 0) {
      throw new IllegalArgumentException(
          "ShedLock's lock would end after " + atMost + ". Give a second or more.");
    }
    return new ShedLockOuterLocks(provider, atMost, Ticker.SYSTEM);
  }

  @Override
  public Lock exclusive(String name) {
    return new ShedLockLock(provider, name, atMost, ticker);
  }

  @Override
  public String toString() {
    return "ShedLockOuterLocks[" + provider + "]";
  }

  /** A lock of ShedLock, for the one thread that takes it. */
  private static final class ShedLockLock implements Checked {
    /** ShedLock tells nobody of a release. */
    private static final long POLL_MILLIS = 100;

    private final LockProvider provider;
    private final String name;
    private final Duration atMost;
    private final Ticker ticker;
    private @Nullable SimpleLock held;
    private long heldUntil;

    ShedLockLock(LockProvider provider, String name, Duration atMost, Ticker ticker) {
      this.provider = provider;
      this.name = name;
      this.atMost = atMost;
      this.ticker = ticker;
    }

    @Override
    public boolean tryLock() {
      heldUntil = ticker.nanos() + atMost.toNanos();
      held =
          provider
              .lock(new LockConfiguration(ClockProvider.now(), name, atMost, Duration.ZERO))
              .orElse(null);
      return held != null;
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
      long deadline = ticker.nanos() + unit.toNanos(time);
      while (!tryLock()) {
        if (deadline - ticker.nanos() <= 0) {
          return false;
        }
        TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      }
      return true;
    }

    /** Extends the lock, too. */
    @Override
    public boolean isHeld() {
      long until = ticker.nanos() + atMost.toNanos();
      try {
        Optional<SimpleLock> extended =
            Objects.requireNonNull(held, "held").extend(atMost, Duration.ZERO);
        extended.ifPresent(lock -> held = lock);
        heldUntil = until;
        return extended.isPresent();
      } catch (UnsupportedOperationException e) {
        return heldUntil - ticker.nanos() > 0;
      } catch (RuntimeException e) {
        // The database may be back before the end.
        if (heldUntil - ticker.nanos() > 0) {
          throw e;
        }
        return false;
      }
    }

    @Override
    public void unlock() {
      Objects.requireNonNull(held, "held").unlock();
    }

    /** Extends the lock to that time; if it cannot be extended, it ends by itself. */
    @Override
    public void unlockAfter(Duration time) {
      try {
        Objects.requireNonNull(held, "held").extend(time, Duration.ZERO);
      } catch (UnsupportedOperationException e) {
        // It may end earlier, or later.
      }
    }
  }
}
