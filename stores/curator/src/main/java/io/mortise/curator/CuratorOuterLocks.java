package io.mortise.curator;

import io.mortise.OuterLocks;
import io.mortise.annotation.Beta;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.function.Function;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.framework.state.ConnectionStateListener;

/**
 * Curator's locks, held around those of a client while processes that use only Curator still run:
 * {@code LockClient.builder().url(…).alsoHolding(CuratorOuterLocks.of(curator, name -> new
 * InterProcessMutex(curator, "/locks/" + name)))}. A lease is lost when Curator reports {@link
 * ConnectionState#LOST}. Thread-safe; the caller closes the framework, after the client.
 */
@Beta
public final class CuratorOuterLocks implements OuterLocks {
  private final CuratorFramework curator;
  private final Function<String, ? extends InterProcessLock> exclusive;
  private final Function<String, Optional<InterProcessLock>> shared;

  private CuratorOuterLocks(
      CuratorFramework curator,
      Function<String, ? extends InterProcessLock> exclusive,
      Function<String, Optional<InterProcessLock>> shared) {
    this.curator = Objects.requireNonNull(curator, "curator");
    this.exclusive = exclusive;
    this.shared = shared;
  }

  /**
   * Locks without readers. Does not block.
   *
   * @param locks makes the lock of a name
   */
  public static CuratorOuterLocks of(
      CuratorFramework curator, Function<String, ? extends InterProcessLock> locks) {
    Objects.requireNonNull(locks, "locks");
    return new CuratorOuterLocks(curator, locks, name -> Optional.empty());
  }

  /**
   * Locks with readers. Does not block.
   *
   * @param locks makes the lock of a name
   */
  public static CuratorOuterLocks ofReadWriteLocks(
      CuratorFramework curator, Function<String, InterProcessReadWriteLock> locks) {
    Objects.requireNonNull(locks, "locks");
    return new CuratorOuterLocks(
        curator,
        name -> locks.apply(name).writeLock(),
        name -> Optional.of(locks.apply(name).readLock()));
  }

  @Override
  public Lock exclusive(String name) {
    return new CuratorLock(curator, exclusive.apply(name));
  }

  @Override
  public Optional<Lock> shared(String name) {
    return shared.apply(name).map(lock -> new CuratorLock(curator, lock));
  }

  @Override
  public String toString() {
    return "CuratorOuterLocks";
  }

  /** A lock of Curator, for the one thread that takes it. */
  private static final class CuratorLock implements Checked, ConnectionStateListener {
    private final CuratorFramework curator;
    private final InterProcessLock lock;
    private volatile boolean isLost;

    CuratorLock(CuratorFramework curator, InterProcessLock lock) {
      this.curator = curator;
      this.lock = lock;
    }

    @Override
    public void stateChanged(CuratorFramework client, ConnectionState state) {
      if (state == ConnectionState.LOST) {
        isLost = true;
      }
    }

    @Override
    public boolean isHeld() {
      return !isLost;
    }

    @Override
    public boolean tryLock() {
      return acquired(() -> lock.acquire(0, TimeUnit.SECONDS));
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
      try {
        return acquired(() -> lock.acquire(time, unit));
      } catch (IllegalStateException e) {
        if (e.getCause() instanceof InterruptedException) {
          throw new InterruptedException("interrupted while waiting for Curator's lock");
        }
        throw e;
      }
    }

    /** A call of Curator. */
    private interface CuratorCall {
      boolean run() throws Exception;
    }

    private boolean acquired(CuratorCall acquire) {
      isLost = false;
      curator.getConnectionStateListenable().addListener(this);
      boolean acquired = false;
      try {
        acquired = acquire.run();
        if (acquired && isLost) {
          // The session may have been lost before the node was made, or after.
          isLost = false;
          lock.release();
          acquired = acquire.run();
        }
      } catch (RuntimeException e) {
        throw e;
      } catch (Exception e) {
        throw new IllegalStateException("Curator could not take its lock: " + e, e);
      } finally {
        if (!acquired) {
          curator.getConnectionStateListenable().removeListener(this);
        }
      }
      return acquired;
    }

    @Override
    public void unlock() {
      curator.getConnectionStateListenable().removeListener(this);
      try {
        lock.release();
      } catch (RuntimeException e) {
        throw e;
      } catch (Exception e) {
        throw new IllegalStateException("Curator could not release its lock: " + e, e);
      }
    }
  }
}
