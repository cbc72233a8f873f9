package io.mortise.shedlock;

import io.mortise.Lease;
import io.mortise.LeaseInDoubtException;
import io.mortise.LeaseLostException;
import io.mortise.LockName;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A lease as ShedLock sees it: to be unlocked or extended once. ShedLock unlocks in a {@code
 * finally}, so that an exception of {@link #unlock()} would replace the task's; therefore a loss is
 * logged there and not thrown, and a failed extension leaves a lock that can still be unlocked.
 * Thread-safe: a {@code KeepAliveLockProvider} extends on a thread of its own.
 */
final class LeaseSimpleLock implements SimpleLock {
  private static final Logger log = LoggerFactory.getLogger(LeaseSimpleLock.class);

  private final MortiseLockProvider provider;
  private final ThreadLeases.TakenLease taken;
  private final Lease lease;
  private final boolean keepsShut;
  private final AtomicBoolean used = new AtomicBoolean();

  LeaseSimpleLock(MortiseLockProvider provider, ThreadLeases.TakenLease taken, boolean keepsShut) {
    this.provider = provider;
    this.taken = taken;
    this.lease = taken.lease;
    this.keepsShut = keepsShut;
  }

  @Override
  public void unlock() {
    use();
    try {
      lease.close();
    } catch (LeaseLostException e) {
      log.warn(
          "The task under ShedLock lock '{}' ended after its lease was lost, so it may have overlapped with the next"
              + " one: {}",
          LockName.of(lease.name()),
          e.getMessage());
    } finally {
      provider.unlocked(taken);
    }
  }

  @Override
  public Optional<SimpleLock> extend(Duration lockAtMostFor, Duration lockAtLeastFor) {
    if (used.get()) {
      throw usedBefore();
    }
    LockConfiguration times =
        new LockConfiguration(ClockProvider.now(), lease.name(), lockAtMostFor, lockAtLeastFor);
    boolean keepsShutThen;
    try {
      keepsShutThen = provider.extend(lease, times, keepsShut);
    } catch (LeaseLostException | LeaseInDoubtException e) {
      log.debug(
          "ShedLock lock '{}' could not be extended: {}",
          LockName.of(lease.name()),
          e.getMessage());
      return Optional.empty();
    }
    use();
    return Optional.of(new LeaseSimpleLock(provider, taken, keepsShutThen));
  }

  private void use() {
    if (!used.compareAndSet(false, true)) {
      throw usedBefore();
    }
  }

  private IllegalStateException usedBefore() {
    return new IllegalStateException(
        "ShedLock lock '"
            + LockName.of(lease.name())
            + "' was unlocked or extended before. Use the lock that extend returned.");
  }

  @Override
  public String toString() {
    return "LeaseSimpleLock[" + lease + (used.get() ? ", unlocked or extended]" : "]");
  }
}
