package io.mortise.spring;

import io.mortise.LockClient;
import io.mortise.LockName;
import io.mortise.LockOptions;
import io.mortise.function.CheckedRunnable;
import io.mortise.function.CheckedSupplier;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Runs tasks under locks as {@link Locked} does, without a proxy: with {@link LockContext}, joined
 * by nested calls of the same thread, and held until the commit of a transaction that is active at
 * entry. Needs no {@link EnableMortise}. Immutable and thread-safe; all methods with a task block.
 */
public final class LockTemplate {
  private final LockPlan plan;

  private LockTemplate(LockPlan plan) {
    this.plan = plan;
  }

  /**
   * A template that waits for 30 seconds, exclusively, with default options, interrupting on loss
   * and holding until commit.
   */
  public static LockTemplate over(LockClient client) {
    return new LockTemplate(new LockPlan(Objects.requireNonNull(client, "client")));
  }

  /**
   * A template that waits that long; zero tries once.
   *
   * @throws IllegalArgumentException if it is negative
   */
  public LockTemplate withWait(Duration wait) {
    if (Objects.requireNonNull(wait, "wait").isNegative()) {
      throw new IllegalArgumentException(
          "Cannot wait for " + wait + ". Give a time to wait that is not negative.");
    }
    return new LockTemplate(plan.withWaitLimit(wait));
  }

  /** A template that waits without limit. */
  public LockTemplate withEndlessWait() {
    return new LockTemplate(plan.withWaitLimit(null));
  }

  /** See {@link Locked#mode()}. */
  public LockTemplate withMode(Locked.LockMode mode) {
    return new LockTemplate(
        plan.withShared(Objects.requireNonNull(mode, "mode") == Locked.LockMode.SHARED));
  }

  /** A template that acquires with these options; not for several names. */
  public LockTemplate withOptions(LockOptions options) {
    return new LockTemplate(plan.withOptions(Objects.requireNonNull(options, "options")));
  }

  /** See {@link Locked#interrupt()}. */
  public LockTemplate withInterrupt(boolean value) {
    return new LockTemplate(plan.withInterrupts(value));
  }

  /** See {@link Locked#until()}. */
  public LockTemplate withUntil(Locked.Until until) {
    return new LockTemplate(
        plan.withUntilCommit(Objects.requireNonNull(until, "until") == Locked.Until.COMMIT));
  }

  /**
   * Acquires, runs the task, releases. Blocks.
   *
   * @throws io.mortise.LockTimeoutException if the lock could not be acquired in time; the task has
   *     not run
   * @throws io.mortise.LeaseLostException if the lease was lost meanwhile
   * @throws InterruptedException if this thread is interrupted before or while it waits
   * @throws IllegalStateException if this thread holds the lock shared and asks for it exclusively
   * @throws X if the task throws it
   */
  public <X extends Exception> void withLock(String name, CheckedRunnable<X> task)
      throws X, InterruptedException {
    withLocks(List.of(Objects.requireNonNull(name, "name")), task);
  }

  /** As {@link #withLock(String, CheckedRunnable)}, with the task's result. */
  public <T extends @Nullable Object, X extends Exception> T withLock(
      String name, CheckedSupplier<T, X> task) throws X, InterruptedException {
    return withLocks(List.of(Objects.requireNonNull(name, "name")), task);
  }

  /**
   * As {@link #withLock(String, CheckedRunnable)}, under several locks, all or none. Equal names
   * count once.
   *
   * @throws IllegalArgumentException if there is no name; or if there are several, and the mode is
   *     shared or the options are not the default
   */
  public <X extends Exception> void withLocks(Collection<String> names, CheckedRunnable<X> task)
      throws X, InterruptedException {
    Objects.requireNonNull(task, "task");
    boolean unused =
        this.<Boolean, X>withLocks(
            names,
            () -> {
              task.run();
              return true;
            });
  }

  /** As {@link #withLocks(Collection, CheckedRunnable)}, with the task's result. */
  public <T extends @Nullable Object, X extends Exception> T withLocks(
      Collection<String> names, CheckedSupplier<T, X> task) throws X, InterruptedException {
    Objects.requireNonNull(task, "task");
    LockPlan waiting = plan.withSkips(false);
    HeldLocks held = Objects.requireNonNull(HeldLocks.acquire(waiting, checked(names)));
    return held.run(waiting, task);
  }

  /**
   * Runs the task if the lock can be acquired in time. Blocks.
   *
   * @return whether the task has run; false if the lock could not be acquired in time
   * @throws io.mortise.LeaseLostException if the lease was lost meanwhile
   * @throws InterruptedException if this thread is interrupted before or while it waits
   * @throws IllegalStateException if this thread holds the lock shared and asks for it exclusively
   * @throws X if the task throws it
   */
  public <X extends Exception> boolean tryWithLock(String name, CheckedRunnable<X> task)
      throws X, InterruptedException {
    Objects.requireNonNull(task, "task");
    LockPlan skipping = plan.withSkips(true);
    HeldLocks held =
        HeldLocks.acquire(skipping, checked(List.of(Objects.requireNonNull(name, "name"))));
    if (held == null) {
      return false;
    }
    return held.<Boolean, X>run(
        skipping,
        () -> {
          task.run();
          return true;
        });
  }

  private Set<String> checked(Collection<String> names) {
    Set<String> once = new LinkedHashSet<>(Objects.requireNonNull(names, "names"));
    once.forEach(LockName::of);
    if (once.isEmpty()) {
      throw new IllegalArgumentException("No lock is named. Give one or more names.");
    }
    if (once.size() > 1 && (plan.shared() || !plan.options().equals(LockOptions.DEFAULTS))) {
      throw new IllegalArgumentException(
          "Several locks are taken exclusively and with default options, not "
              + once
              + " so. Drop"
              + " mode and options, or nest calls with one name each.");
    }
    return once;
  }
}
