package io.mortise.shedlock;

import io.mortise.Lease;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;

/**
 * The leases that each thread took and that are not released, innermost last. A lease may be
 * released by another thread: it is dropped when its own thread looks next.
 */
final class ThreadLeases {
  @SuppressWarnings("ThreadLocalUsage") // leases of one provider must not show through another
  private final ThreadLocal<Deque<Lease>> taken = new ThreadLocal<>();

  void add(Lease lease) {
    forgetReleased();
    Deque<Lease> own = taken.get();
    if (own == null) {
      own = new ArrayDeque<>(2);
      taken.set(own);
    }
    own.addLast(lease);
  }

  Optional<Lease> innermost() {
    forgetReleased();
    Deque<Lease> own = taken.get();
    return own == null ? Optional.empty() : Optional.of(own.getLast());
  }

  /** Of the current thread. Leaves no entry behind for a thread that holds nothing. */
  void forgetReleased() {
    Deque<Lease> own = taken.get();
    if (own != null) {
      own.removeIf(lease -> lease.state() == Lease.State.RELEASED);
      if (own.isEmpty()) {
        taken.remove();
      }
    }
  }
}
