package io.mortise.shedlock;

import io.mortise.Lease;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;

/**
 * The leases that each thread took and that are not unlocked, innermost last. A lease may be
 * unlocked by another thread: it is dropped at its own thread's next access. A lost lease stays
 * until it is unlocked, so that its task does not mistake the surrounding lease for its own.
 */
final class ThreadLeases {
  @SuppressWarnings("ThreadLocalUsage") // Leases of one provider must not show through another.
  private final ThreadLocal<Deque<TakenLease>> taken = new ThreadLocal<>();

  /** A lease, and whether ShedLock has unlocked it. Thread-safe. */
  static final class TakenLease {
    final Lease lease;
    private volatile boolean unlocked;

    private TakenLease(Lease lease) {
      this.lease = lease;
    }

    private boolean isOver() {
      return unlocked || lease.state() == Lease.State.RELEASED;
    }
  }

  TakenLease add(Lease lease) {
    dropUnlocked();
    Deque<TakenLease> own = taken.get();
    if (own == null) {
      own = new ArrayDeque<>(2);
      taken.set(own);
    }
    TakenLease added = new TakenLease(lease);
    own.addLast(added);
    return added;
  }

  /** The current thread no longer shows the lease; the thread that took it drops it later. */
  void unlocked(TakenLease lease) {
    lease.unlocked = true;
    dropUnlocked();
  }

  Optional<Lease> innermost() {
    dropUnlocked();
    Deque<TakenLease> own = taken.get();
    return own == null ? Optional.empty() : Optional.of(own.getLast().lease);
  }

  /** Of the current thread. Leaves no entry behind for a thread that holds nothing. */
  private void dropUnlocked() {
    Deque<TakenLease> own = taken.get();
    if (own != null) {
      own.removeIf(TakenLease::isOver);
      if (own.isEmpty()) {
        taken.remove();
      }
    }
  }
}
