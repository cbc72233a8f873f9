package io.mortise.internal.client;

import io.mortise.DistributedLock;
import io.mortise.GroupLease;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockException;
import io.mortise.LockGroup;
import io.mortise.LockName;
import io.mortise.LockTimeoutException;
import io.mortise.StoreUnavailableException;
import io.mortise.internal.engine.state.LeaseLeakDetector;
import io.mortise.internal.engine.state.Waiter;
import io.mortise.spi.time.DurationText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Acquires several locks at once, or releases all if one is not granted.
 *
 * <p>All locks not held yet are tried together. If one is busy, those after it in the order of
 * names are released, and the group waits for the busy one; then the rest is tried again. So a
 * waiting group holds only names before the one that it waits for, and no cycle of groups can wait
 * for each other.
 */
final class EngineLockGroup implements LockGroup {
  private static final Logger log = LoggerFactory.getLogger(EngineLockGroup.class);
  private final EngineClient client;
  private final List<EngineLock> locks;

  EngineLockGroup(EngineClient client, List<EngineLock> locksInOrder) {
    this.client = client;
    this.locks = List.copyOf(locksInOrder);
  }

  @Override
  public GroupLease acquire() throws InterruptedException {
    List<Lease> taken = new ArrayList<>();
    all(Waiter.ENDLESS, taken);
    return lease(taken)
        .orElseThrow(() -> new LockException("A lock of the group was not granted."));
  }

  @Override
  public Optional<GroupLease> tryAcquire(Duration wait) throws InterruptedException {
    List<Lease> taken = new ArrayList<>();
    all(EngineLock.checked(wait), taken);
    return lease(taken);
  }

  @Override
  public GroupLease acquireWithin(Duration wait) throws InterruptedException {
    List<Lease> taken = new ArrayList<>();
    Missed missed = all(EngineLock.checked(wait), taken);
    if (missed != null) {
      String lock = "Lock '" + LockName.of(missed.lock().name()) + "' was not granted. ";
      throw missed.lock().timeout(missed.waiter(), timeout(wait) + lock);
    }
    return new EngineGroupLease(List.copyOf(taken));
  }

  private String timeout(Duration wait) {
    return "Could not acquire all of %s within %s; none is held. "
        .formatted(names(), DurationText.format(wait));
  }

  /**
   * The failure for the caller of an asynchronous acquire.
   *
   * @param one the failure of the lock that was not granted
   */
  private LockTimeoutException timeout(Duration wait, LockTimeoutException one) {
    LockTimeoutException all = new LockTimeoutException(timeout(wait) + one.getMessage());
    all.initCause(one.getCause());
    return all;
  }

  @Override
  public CompletableFuture<GroupLease> acquireAsync() {
    return new Pending(Waiter.ENDLESS, failure -> failure).begin();
  }

  @Override
  public CompletableFuture<GroupLease> acquireAsync(Duration wait) {
    return new Pending(
            EngineLock.checked(wait),
            failure -> failure instanceof LockTimeoutException one ? timeout(wait, one) : failure)
        .begin();
  }

  @Override
  public <T> CompletableFuture<T> withLocksAsync(
      Function<GroupLease, ? extends CompletionStage<T>> task) {
    Objects.requireNonNull(task, "task");
    return AsyncAcquire.thenRelease(acquireAsync(), task, GroupLease::releaseAsync);
  }

  @Override
  public Optional<GroupLease> tryAcquire() {
    long deadline = client.now() + locks.get(0).tryNanos();
    List<Lease> taken = new ArrayList<>();
    try {
      tryRest(taken, EngineLock::endTry);
    } catch (InterruptedException e) {
      throw new IllegalStateException("cannot be: tryAcquire() is not interruptible", e);
    } finally {
      releaseIncomplete(taken, deadline);
    }
    return lease(taken);
  }

  /** The end of a wait without a lease. */
  private record Missed(EngineLock lock, Waiter waiter) {}

  /**
   * Takes all, or releases the ones taken.
   *
   * @param taken receives the leases
   * @return the lock that was not granted; null if all are taken
   */
  private @Nullable Missed all(long waitNanos, List<Lease> taken) throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException("interrupted before waiting for the locks " + names());
    }
    long deadline = client.now() + waitNanos;
    Waiter missed = null;
    try {
      while (missed == null && taken.size() < locks.size()) {
        if (locks.size() - taken.size() > 1) {
          Waiter busy =
              tryRest(taken, (lock, tried) -> endTry(lock, tried, left(waitNanos, deadline)));
          missed = waitNanos == 0 ? busy : null;
        }
        if (missed == null && taken.size() < locks.size()) {
          missed = await(taken, left(waitNanos, deadline));
        }
      }
    } finally {
      releaseIncomplete(taken, client.now() + locks.get(0).tryNanos());
    }
    return missed == null ? null : new Missed(locks.get(taken.size()), missed);
  }

  private static Optional<Lease> endTry(EngineLock lock, Waiter tried, long left)
      throws InterruptedException {
    try {
      return lock.endTry(tried, tryLimit(left));
    } catch (StoreUnavailableException e) {
      if (left == 0) {
        throw e;
      }
      // The wait that follows survives an outage, or reports it.
      return Optional.empty();
    }
  }

  /** The rest of a wait; zero only if it was zero from the beginning. */
  private long left(long waitNanos, long deadline) {
    return waitNanos == Waiter.ENDLESS || waitNanos == 0
        ? waitNanos
        : Math.max(1, deadline - client.now());
  }

  /** A caller that does not wait for the lock still waits for the answer. */
  private static long tryLimit(long waitNanos) {
    return waitNanos == 0 ? Waiter.ENDLESS : waitNanos;
  }

  /** Waits for the next lock; returns the wait if it was not granted in time. */
  private @Nullable Waiter await(List<Lease> taken, long waitNanos) throws InterruptedException {
    EngineLock next = locks.get(taken.size());
    Waiter waiter = next.await(waitNanos);
    Optional<Lease> lease = next.outcome(waiter);
    lease.ifPresent(taken::add);
    return lease.isPresent() ? null : waiter;
  }

  private interface TryEnd {
    Optional<Lease> of(EngineLock lock, Waiter tried) throws InterruptedException;
  }

  /**
   * Tries all that are not taken yet at once, and takes those before the first that is busy.
   *
   * @return the try of the busy one; null if all are taken
   */
  private @Nullable Waiter tryRest(List<Lease> taken, TryEnd tryEnd) throws InterruptedException {
    List<EngineLock> rest = locks.subList(taken.size(), locks.size());
    List<Waiter> tries = new ArrayList<>();
    int ended = 0;
    try {
      for (EngineLock lock : rest) {
        tries.add(lock.beginTry());
      }
      Waiter busy = null;
      while (busy == null && ended < tries.size()) {
        int next = ended++;
        Optional<Lease> lease = tryEnd.of(rest.get(next), tries.get(next));
        lease.ifPresent(taken::add);
        busy = lease.isPresent() ? null : tries.get(next);
      }
      return busy;
    } finally {
      for (int i = ended; i < tries.size(); i++) {
        rest.get(i).abandonTry(tries.get(i));
      }
    }
  }

  private Optional<GroupLease> lease(List<Lease> taken) {
    return taken.size() < locks.size()
        ? Optional.empty()
        : Optional.of(new EngineGroupLease(List.copyOf(taken)));
  }

  private List<String> names() {
    return locks.stream().map(DistributedLock::name).toList();
  }

  @Override
  public String toString() {
    return "LockGroup" + names();
  }

  /**
   * Releases the locks taken of an incomplete group, and waits for the store's answers while there
   * is time.
   *
   * @param deadline local time
   */
  private void releaseIncomplete(List<Lease> taken, long deadline) {
    if (taken.size() == locks.size() || taken.isEmpty()) {
      return;
    }
    CompletableFuture<Void> released = new EngineGroupLease(List.copyOf(taken)).releaseAsync();
    boolean interrupted = Thread.interrupted();
    try {
      released.get(Math.max(1, deadline - client.now()), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      interrupted = true;
    } catch (ExecutionException notHeldAnyMore) {
      log.debug("A lock of a group that was not had was lost meanwhile.", notHeldAnyMore);
    } catch (TimeoutException storeIsSilent) {
      log.debug("The release of a group that was not had has no answer yet.", storeIsSilent);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** An acquire without a waiting thread. */
  private final class Pending {
    private final long waitNanos;
    private final long deadline;
    private final UnaryOperator<Throwable> failureOf;
    private final CompletableFuture<GroupLease> future = new CompletableFuture<>();
    private final List<Lease> taken = new ArrayList<>();
    private volatile List<CompletableFuture<Lease>> current = List.of();

    Pending(long waitNanos, UnaryOperator<Throwable> failureOf) {
      this.waitNanos = waitNanos;
      this.deadline = client.now() + waitNanos;
      this.failureOf = failureOf;
    }

    CompletableFuture<GroupLease> begin() {
      acquireRest();
      CompletableFuture<GroupLease> watched =
          future.whenComplete(
              (lease, failure) -> {
                // Cancelled, or completed by a caller. After its own completion this does nothing.
                cancelCurrent();
              });
      assert watched != null;
      return future;
    }

    private void cancelCurrent() {
      current.forEach(one -> one.cancel(true));
    }

    /** Continues with the locks not taken yet. */
    private void acquireRest() {
      if (locks.size() - taken.size() > 1) {
        long left = tryLimit(left(waitNanos, deadline));
        List<EngineLock> rest = locks.subList(taken.size(), locks.size());
        send(rest.stream().map(lock -> lock.tryAsync(left)).toList(), this::tried);
      } else {
        awaitNext();
      }
    }

    private void awaitNext() {
      if (taken.size() == locks.size()) {
        if (!future.complete(new EngineGroupLease(List.copyOf(taken)))) {
          giveBack(taken);
        }
        return;
      }
      EngineLock next = locks.get(taken.size());
      long left = left(waitNanos, deadline);
      send(
          List.of(
              left == Waiter.ENDLESS
                  ? next.acquireAsync()
                  : next.acquireAsync(Duration.ofNanos(left))),
          this::awaited);
    }

    /** Combines the answers. Cancelling the group cancels its requests. */
    private void send(
        List<CompletableFuture<Lease>> sent, Consumer<List<CompletableFuture<Lease>>> answered) {
      current = sent;
      if (future.isDone()) {
        cancelCurrent();
      }
      CompletableFuture<Void> watched =
          CompletableFuture.allOf(sent.toArray(CompletableFuture[]::new))
              .whenComplete((all, failure) -> answered.accept(sent));
      assert watched != null;
    }

    private void tried(List<CompletableFuture<Lease>> tries) {
      List<Lease> behind = new ArrayList<>();
      Throwable busy = null;
      Throwable failed = null;
      for (CompletableFuture<Lease> one : tries) {
        Throwable failure = failure(one);
        if (failure == null) {
          (busy == null ? taken : behind).add(one.join());
        } else {
          busy = busy == null ? failure : busy;
          boolean waits = waitNanos != 0 && failure instanceof StoreUnavailableException;
          if (failed == null && !waits && !(failure instanceof LockTimeoutException)) {
            failed = failure;
          }
        }
      }
      giveBack(behind);
      if (failed != null || future.isDone()) {
        fail(failed == null ? new CancellationException() : failed);
      } else if (busy != null && waitNanos == 0) {
        fail(busy);
      } else {
        awaitNext();
      }
    }

    private void awaited(List<CompletableFuture<Lease>> one) {
      Throwable failure = failure(one.get(0));
      if (failure == null) {
        taken.add(one.get(0).join());
      }
      if (failure != null || future.isDone()) {
        fail(failure == null ? new CancellationException() : failure);
      } else {
        acquireRest();
      }
    }

    private static @Nullable Throwable failure(CompletableFuture<Lease> ended) {
      try {
        var unused = ended.join();
        return null;
      } catch (CancellationException e) {
        return e;
      } catch (CompletionException e) {
        return e.getCause() == null ? e : e.getCause();
      }
    }

    private void fail(Throwable failure) {
      giveBack(taken);
      future.completeExceptionally(failureOf.apply(failure));
    }

    private void giveBack(List<Lease> leases) {
      CompletableFuture<Void> unused = new EngineGroupLease(List.copyOf(leases)).releaseAsync();
    }
  }

  private record EngineGroupLease(List<Lease> leases) implements GroupLease {
    @Override
    public Lease lease(String name) {
      Objects.requireNonNull(name, "name");
      return leases.stream()
          .filter(lease -> lease.name().equals(name))
          .findFirst()
          .orElseThrow(() -> new IllegalArgumentException("The group has no lock '" + name + "'."));
    }

    @Override
    public String toString() {
      return "GroupLease" + leases;
    }

    @Override
    public boolean isValid() {
      return leases.stream().allMatch(Lease::isValid);
    }

    @Override
    public Duration remaining() {
      return leases.stream().map(Lease::remaining).min(Duration::compareTo).orElse(Duration.ZERO);
    }

    @Override
    public void ensureValid() {
      leases.forEach(Lease::ensureValid);
    }

    @Override
    public CompletableFuture<Void> releaseAsync() {
      CompletableFuture<Void> all = CompletableFuture.completedFuture(null);
      for (int i = leases.size() - 1; i >= 0; i--) {
        CompletableFuture<Void> one = leases.get(i).releaseAsync();
        all =
            all.handle((ignored, loss) -> loss)
                .thenCombine(one.handle((ignored, loss) -> loss), EngineGroupLease::withSuppressed)
                .thenCompose(
                    loss ->
                        loss == null
                            ? CompletableFuture.completedFuture(null)
                            : CompletableFuture.failedFuture(loss));
      }
      return all;
    }

    private static <T extends Throwable> @Nullable T withSuppressed(
        @Nullable T first, @Nullable T second) {
      if (first == null) {
        return second;
      }
      if (second != null) {
        first.addSuppressed(second);
      }
      return first;
    }

    @Override
    public void close() {
      List<Runnable> closes = new ArrayList<>();
      for (int i = leases.size() - 1; i >= 0; i--) {
        closes.add(LeaseLeakDetector.unwrap(leases.get(i)).startClose());
      }
      LeaseLostException first = null;
      for (Runnable close : closes) {
        try {
          close.run();
        } catch (LeaseLostException e) {
          first = withSuppressed(first, e);
        }
      }
      if (first != null) {
        throw first;
      }
    }
  }
}
