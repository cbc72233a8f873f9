package io.mortise.spring;

import io.mortise.DistributedLock;
import io.mortise.GroupLease;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockGroup;
import io.mortise.LockTimeoutException;
import io.mortise.function.CheckedSupplier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/** The locks that one call uses: acquired for it, or joined from a call around it. Thread-safe. */
final class HeldLocks implements AutoCloseable {
  private static final boolean HAS_TRANSACTIONS =
      ClassUtils.isPresent(
          "org.springframework.transaction.support.TransactionSynchronization",
          HeldLocks.class.getClassLoader());

  private final List<Hold> holds;
  private final AtomicBoolean released = new AtomicBoolean();

  private HeldLocks(List<Hold> holds) {
    this.holds = holds;
  }

  private static HeldLocks of(LockPlan plan, Lease lease) {
    return new HeldLocks(List.of(new Hold(plan.client(), plan.shared(), lease)));
  }

  private static HeldLocks of(LockPlan plan, GroupLease group) {
    return new HeldLocks(
        group.leases().stream()
            .map(lease -> new Hold(plan.client(), plan.shared(), lease))
            .toList());
  }

  /**
   * Acquires the locks that this thread does not hold yet. Blocks.
   *
   * @param names each once
   * @return null if the plan skips, and the locks could not be acquired in time
   * @throws LockTimeoutException if the plan does not skip, and they could not be acquired in time
   * @throws InterruptedException if this thread is interrupted while it waits
   */
  static @Nullable HeldLocks acquire(LockPlan plan, Collection<String> names)
      throws InterruptedException {
    if (names.size() == 1) {
      String name = names.iterator().next();
      Hold joined = Hold.join(plan.client(), name, plan.shared());
      if (joined != null) {
        return new HeldLocks(List.of(joined));
      }
      Lease lease = acquire(plan, plan.lock(name));
      return lease == null ? null : of(plan, lease);
    }
    List<Hold> holds = new ArrayList<>(names.size());
    List<String> missing = new ArrayList<>(names.size());
    boolean complete = false;
    try {
      for (String name : names) {
        Hold joined = Hold.join(plan.client(), name, plan.shared());
        if (joined == null) {
          missing.add(name);
        } else {
          holds.add(joined);
        }
      }
      if (!missing.isEmpty()) {
        GroupLease group = acquire(plan, group(plan, missing));
        if (group == null) {
          return null;
        }
        holds.addAll(of(plan, group).holds);
      }
      complete = true;
      return new HeldLocks(holds);
    } finally {
      if (!complete) {
        // Never the last use: the surrounding call has its own.
        holds.forEach(Hold::release);
      }
    }
  }

  private static LockGroup group(LockPlan plan, Collection<String> names) {
    return plan.client().allOf(names.toArray(String[]::new));
  }

  private static @Nullable Lease acquire(LockPlan plan, DistributedLock lock)
      throws InterruptedException {
    Duration wait = plan.waitLimit();
    if (wait == null) {
      return lock.acquire();
    }
    return plan.skips() ? lock.tryAcquire(wait).orElse(null) : lock.acquireWithin(wait);
  }

  private static @Nullable GroupLease acquire(LockPlan plan, LockGroup group)
      throws InterruptedException {
    Duration wait = plan.waitLimit();
    if (wait == null) {
      return group.acquire();
    }
    return plan.skips() ? group.tryAcquire(wait).orElse(null) : group.acquireWithin(wait);
  }

  /**
   * Acquires without blocking, and without joining: asynchronous work may outlast the surrounding
   * call, and two such calls would run at the same time.
   *
   * @param then called once: with the locks, with a failure, or with neither if the plan skips and
   *     they could not be acquired in time
   * @return to be cancelled to give the attempt up; if a grant was faster, {@code then} gets it and
   *     must release it
   */
  static CompletableFuture<?> acquireAsync(
      LockPlan plan,
      Collection<String> names,
      BiConsumer<@Nullable HeldLocks, @Nullable Throwable> then) {
    Duration wait = plan.waitLimit();
    if (names.size() == 1) {
      DistributedLock lock = plan.lock(names.iterator().next());
      return notified(
          plan,
          wait == null ? lock.acquireAsync() : lock.acquireAsync(wait),
          lease -> of(plan, lease),
          then);
    }
    LockGroup group = group(plan, names);
    return notified(
        plan,
        wait == null ? group.acquireAsync() : group.acquireAsync(wait),
        lease -> of(plan, lease),
        then);
  }

  private static <L> CompletableFuture<L> notified(
      LockPlan plan,
      CompletableFuture<L> acquired,
      Function<L, HeldLocks> held,
      BiConsumer<@Nullable HeldLocks, @Nullable Throwable> then) {
    var unused =
        acquired.whenComplete(
            (lease, failure) -> {
              Throwable cause = unwrapped(failure);
              if (cause instanceof LockTimeoutException && plan.skips()) {
                then.accept(null, null);
              } else if (cause != null) {
                then.accept(null, cause);
              } else {
                then.accept(held.apply(lease), null);
              }
            });
    return acquired;
  }

  static @Nullable Throwable unwrapped(@Nullable Throwable failure) {
    return failure instanceof CompletionException wrapper && wrapper.getCause() != null
        ? wrapper.getCause()
        : failure;
  }

  List<Hold> holds() {
    return holds;
  }

  void ensureValid() {
    for (Hold hold : holds) {
      hold.lease().ensureValid();
    }
  }

  /**
   * Runs the task on this thread under these locks, and releases them: at once, or at the end of
   * this thread's transaction, if the plan says so and there is one.
   */
  <T extends @Nullable Object, X extends Exception> T run(LockPlan plan, CheckedSupplier<T, X> task)
      throws X {
    try (this) {
      if (plan.untilCommit() && HAS_TRANSACTIONS) {
        TransactionHolds.keepUntilCommit(holds);
      }
      try (LockContext.Scope inside = LockContext.enter(holds)) {
        assert inside != null;
        if (plan.interrupts()) {
          return runInterruptibly(0, task);
        }
        ensureValid();
        return task.get();
      }
    }
  }

  private <T extends @Nullable Object, X extends Exception> T runInterruptibly(
      int from, CheckedSupplier<T, X> task) throws X {
    Lease lease = holds.get(from).lease();
    return from == holds.size() - 1
        ? lease.run(task)
        : lease.run(() -> runInterruptibly(from + 1, task));
  }

  /**
   * Ends this use of the locks, once. Blocks for the store's answer if it is the last use.
   *
   * @throws LeaseLostException if a lease was lost, and this was its last use
   */
  @Override
  public void close() {
    if (!released.compareAndSet(false, true)) {
      return;
    }
    release(holds);
  }

  /** Ends a use of each, in reverse order, and then throws the first loss. */
  static void release(List<Hold> holds) {
    LeaseLostException first = null;
    for (int i = holds.size() - 1; i >= 0; i--) {
      try {
        holds.get(i).release();
      } catch (LeaseLostException e) {
        if (first == null) {
          first = e;
        } else {
          first.addSuppressed(e);
        }
      }
    }
    if (first != null) {
      throw first;
    }
  }

  /** As {@link #close()}, without blocking. */
  CompletableFuture<Void> releaseAsync() {
    if (!released.compareAndSet(false, true)) {
      return CompletableFuture.completedFuture(null);
    }
    return releaseAsync(holds);
  }

  static CompletableFuture<Void> releaseAsync(List<Hold> holds) {
    CompletableFuture<?>[] releases = new CompletableFuture<?>[holds.size()];
    for (int i = holds.size() - 1; i >= 0; i--) {
      releases[i] = holds.get(i).releaseAsync();
    }
    return CompletableFuture.allOf(releases);
  }
}
