package io.mortise.shedlock;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockOptions;
import io.mortise.annotation.Beta;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.jspecify.annotations.Nullable;

/**
 * ShedLock's lock provider over a lock client: the one bean to replace. The name of a ShedLock lock
 * is the name of the lock in the store.
 *
 * <p>Times are counted from the grant; the hosts' times of day do not matter.
 *
 * <ul>
 *   <li>{@code lockAtMostFor} ends the lock no later than this, however long the task runs. A
 *       crashed process's lock is free earlier, after the TTL of its client. See {@link
 *       #withoutAtMost()}.
 *   <li>{@code lockAtLeastFor} keeps the lock shut, also after a crash. A store without at-least
 *       times refuses it.
 * </ul>
 *
 * <p>Renewal goes on by itself while the lock is held, so a {@code KeepAliveLockProvider} around
 * this is not needed. One that stays gives up after an extension that the store does not answer,
 * and {@code lockAtMostFor} ends the lock: put it around {@link #withoutAtMost()}. Not re-entrant,
 * as ShedLock demands. Thread-safe. The caller closes the client.
 */
public final class MortiseLockProvider implements ExtensibleLockProvider {
  private static final Duration SHORTEST = Duration.ofMillis(1);

  private final LockClient client;
  private final ThreadLeases leases;
  private final boolean atMostApplies;
  private final @Nullable LockProvider outer;

  private MortiseLockProvider(
      LockClient client, ThreadLeases leases, boolean atMostApplies, @Nullable LockProvider outer) {
    this.client = client;
    this.leases = leases;
    this.atMostApplies = atMostApplies;
    this.outer = outer;
  }

  /**
   * Uses a client. Does not block.
   *
   * @throws IllegalArgumentException if the client is a mock
   * @throws IllegalStateException if the client is closed
   */
  public static MortiseLockProvider over(LockClient client) {
    if (client.admin() == null) {
      throw new IllegalArgumentException(
          "This LockClient is a mock, which locks nothing. Use @MemoryLocks in tests, or a client of mem:.");
    }
    return new MortiseLockProvider(client, new ThreadLeases(), true, null);
  }

  /**
   * The same without at-most times: a lock is held for as long as its task runs and its process
   * lives, whatever {@code lockAtMostFor} says. A crash frees it after the TTL of the client. For
   * tasks of unknown length; a task that hangs keeps its lock until the process ends or an operator
   * evicts it.
   */
  public MortiseLockProvider withoutAtMost() {
    return new MortiseLockProvider(client, leases, false, outer);
  }

  /**
   * The same, but each lock of another provider is taken first, and the own one inside it, while
   * processes that use only the other still run. Both get the times of the job; with {@link
   * #withoutAtMost()} the other lock still ends at {@code lockAtMostFor}. An extension extends
   * both. If the own lock is not had, a provider that cannot extend keeps its lock shut for its
   * at-least time.
   */
  @Beta
  public MortiseLockProvider alsoHolding(LockProvider old) {
    return new MortiseLockProvider(
        client, leases, atMostApplies, Objects.requireNonNull(old, "old"));
  }

  /**
   * Tries once. Blocks for one round trip to the store.
   *
   * @return empty if another client holds or waits for the lock, or an at-least time keeps it shut
   * @throws IllegalArgumentException if the name is no lock name, or a time is above ten years
   * @throws io.mortise.StoreUnavailableException if the store does not answer; a grant in doubt is
   *     given up
   * @throws io.mortise.UnsupportedByStoreException if there is an at-least time and the store keeps
   *     none
   * @throws io.mortise.LockException if the store refuses
   * @throws IllegalStateException if the client is closed
   */
  @Override
  public Optional<SimpleLock> lock(LockConfiguration configuration) {
    return outer == null
        ? own(configuration)
        : NestedSimpleLock.lock(outer, this::own, configuration);
  }

  private Optional<SimpleLock> own(LockConfiguration configuration) {
    Duration atLeast = configuration.getLockAtLeastFor();
    boolean keepsShut = atLeast.compareTo(Duration.ZERO) > 0;
    LockOptions options =
        LockOptions.DEFAULTS
            .withAtMost(atMostApplies ? longEnough(configuration.getLockAtMostFor()) : null)
            .withAtLeast(keepsShut ? longEnough(atLeast) : null);
    return client
        .lock(configuration.getName(), options)
        .tryAcquire()
        .map(lease -> new LeaseSimpleLock(this, leases.add(lease), keepsShut));
  }

  /**
   * The lease of the lock that this thread acquired last through this provider and has not unlocked
   * yet, for its fencing token and loss listeners. Empty if there is none. A lock taken by another
   * thread is not seen. Does not block.
   */
  public Optional<Lease> currentLease() {
    return leases.innermost();
  }

  /**
   * Restarts the times of a hold.
   *
   * @param keepsShut whether the hold has an at-least time now
   * @return whether it has one afterwards
   * @throws io.mortise.LeaseLostException if the lease is lost
   */
  boolean extend(Lease lease, LockConfiguration times, boolean keepsShut) {
    lease.ensureValid();
    if (atMostApplies) {
      lease.extend(longEnough(times.getLockAtMostFor()));
    }
    Duration atLeast = times.getLockAtLeastFor();
    boolean keepShut = atLeast.compareTo(Duration.ZERO) > 0;
    if (keepShut || keepsShut) {
      // An at-least time of zero cancels the former one, which needs a time that is over at once.
      lease.keepShut(longEnough(atLeast));
    }
    return keepShut;
  }

  /** After an unlock, {@link #currentLease} must not show the lock any more. */
  void unlocked(ThreadLeases.TakenLease lease) {
    leases.unlocked(lease);
  }

  private static Duration longEnough(Duration time) {
    return Objects.requireNonNull(time).compareTo(SHORTEST) < 0 ? SHORTEST : time;
  }

  @Override
  public String toString() {
    return "MortiseLockProvider[" + client + (atMostApplies ? "]" : ", no at-most times]");
  }
}
