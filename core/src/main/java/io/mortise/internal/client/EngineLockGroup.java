package io.mortise.internal.client;

import io.mortise.DistributedLock;
import io.mortise.GroupLease;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockException;
import io.mortise.LockGroup;
import io.mortise.LockTimeoutException;
import io.mortise.StoreUnavailableException;
import io.mortise.internal.engine.Waiter;
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
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes several locks at once, or lets go of all if one cannot be had.
 *
 * <p>All that are not held yet are tried together. If one is busy, those behind it in the order of
 * names are given back, and it is waited for in that order; then the rest is tried again. So a
 * group that waits holds nothing but names before the one that it waits for, and no cycle of groups
 * can wait for each other.
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
    return all(Waiter.ENDLESS)
        .orElseThrow(() -> new LockException("A lock of the group was not granted."));
  }

  @Override
  public Optional<GroupLease> tryAcquire(Duration wait) throws InterruptedException {
    return all(EngineLock.checked(wait));
  }

  @Override
  public GroupLease acquireWithin(Duration wait) throws InterruptedException {
    return tryAcquire(wait).orElseThrow(() -> timeout(wait));
  }

  private LockTimeoutException timeout(Duration wait) {
    return new LockTimeoutException(
        "Could not acquire all of %s within %s; none is held. Raise the wait time, or shorten what is done under the locks."
            .formatted(names(), DurationText.format(wait)));
  }

  @Override
  public CompletableFuture<GroupLease> acquireAsync() {
    return new Pending(Waiter.ENDLESS, failure -> failure).begin();
  }

  @Override
  public CompletableFuture<GroupLease> acquireAsync(Duration wait) {
    return new Pending(
            EngineLock.checked(wait),
            failure -> failure instanceof LockTimeoutException ? timeout(wait) : failure)
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
    List<Lease> taken = new ArrayList<>();
    try {
      tryRest(taken, Waiter.ENDLESS, EngineLock::endTry);
    } catch (InterruptedException e) {
      throw new IllegalStateException("cannot be: tryAcquire() is not interruptible", e);
    } finally {
      releaseIncomplete(taken);
    }
    return lease(taken);
  }

  private Optional<GroupLease> all(long waitNanos) throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException("interrupted before waiting for the locks " + names());
    }
    long deadline = client.now() + waitNanos;
    List<Lease> taken = new ArrayList<>();
    try {
      while (taken.size() < locks.size()) {
        boolean several = locks.size() - taken.size() > 1;
        if (several) {
          tryRest(
              taken,
              tryLimit(left(waitNanos, deadline)),
              (lock, tried) -> endTry(lock, tried, left(waitNanos, deadline)));
        }
        if (taken.size() < locks.size()
            && ((several && waitNanos == 0) || !await(taken, left(waitNanos, deadline)))) {
          return Optional.empty();
        }
      }
    } finally {
      releaseIncomplete(taken);
    }
    return lease(taken);
  }

  private static Optional<Lease> endTry(EngineLock lock, Waiter tried, long left)
      throws InterruptedException {
    try {
      return lock.endTry(tried, tryLimit(left));
    } catch (StoreUnavailableException e) {
      if (left == 0) {
        throw e;
      }
      // The wait that follows survives an outage, or says that there is one.
      return Optional.empty();
    }
  }

  /** How much of a wait is left; none only if it was none from the beginning. */
  private long left(long waitNanos, long deadline) {
    return waitNanos == Waiter.ENDLESS || waitNanos == 0
        ? waitNanos
        : Math.max(1, deadline - client.now());
  }

  /** A caller that does not wait for the lock waits for the answer. */
  private static long tryLimit(long waitNanos) {
    return waitNanos == 0 ? Waiter.ENDLESS : waitNanos;
  }

  /** Waits for the next one; false if it cannot be had in time. */
  private boolean await(List<Lease> taken, long waitNanos) throws InterruptedException {
    EngineLock next = locks.get(taken.size());
    Optional<Lease> lease =
        waitNanos == Waiter.ENDLESS
            ? Optional.of(next.acquire())
            : next.tryAcquire(Duration.ofNanos(waitNanos));
    lease.ifPresent(taken::add);
    return lease.isPresent();
  }

  /** Waits for the answer to a try. */
  private interface TryEnd {
    Optional<Lease> of(EngineLock lock, Waiter tried) throws InterruptedException;
  }

  /** Tries all that are not taken yet at once, and takes those before the first that is busy. */
  private void tryRest(List<Lease> taken, long waitNanos, TryEnd tryEnd)
      throws InterruptedException {
    List<EngineLock> rest = locks.subList(taken.size(), locks.size());
    List<Waiter> tries = new ArrayList<>();
    int ended = 0;
    try {
      for (EngineLock lock : rest) {
        tries.add(lock.beginTry(waitNanos));
      }
      boolean granted = true;
      while (granted && ended < tries.size()) {
        int next = ended++;
        Optional<Lease> lease = tryEnd.of(rest.get(next), tries.get(next));
        lease.ifPresent(taken::add);
        granted = lease.isPresent();
      }
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

  private void releaseIncomplete(List<Lease> taken) {
    for (int i = taken.size() - 1; i >= 0 && taken.size() < locks.size(); i--) {
      try {
        taken.get(i).close();
      } catch (LeaseLostException notHeldAnyMore) {
        log.debug("A lock of a group that was not had was lost meanwhile.", notHeldAnyMore);
      }
    }
  }

  /** An acquire that no thread waits for. */
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
                // Cancelled, or completed by a caller. What this acquire has completed is over.
                cancelCurrent();
              });
      assert watched != null;
      return future;
    }

    private void cancelCurrent() {
      current.forEach(one -> one.cancel(true));
    }

    /** Goes on from what is taken. */
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

    /** Takes the answers together. A group that was cancelled cancels its requests. */
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
      boolean busy = false;
      Throwable failed = null;
      for (CompletableFuture<Lease> one : tries) {
        Throwable failure = failure(one);
        if (failure == null) {
          (busy ? behind : taken).add(one.join());
        } else {
          busy = true;
          boolean waits = waitNanos != 0 && failure instanceof StoreUnavailableException;
          if (failed == null && !waits && !(failure instanceof LockTimeoutException)) {
            failed = failure;
          }
        }
      }
      giveBack(behind);
      if (failed != null || future.isDone()) {
        fail(failed == null ? new CancellationException() : failed);
      } else if (busy && waitNanos == 0) {
        fail(timeout(Duration.ZERO));
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
                .thenCombine(one.handle((ignored, loss) -> loss), EngineGroupLease::join)
                .thenCompose(
                    loss ->
                        loss == null
                            ? CompletableFuture.completedFuture(null)
                            : CompletableFuture.failedFuture(loss));
      }
      return all;
    }

    private static @Nullable Throwable join(@Nullable Throwable first, @Nullable Throwable second) {
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
      LeaseLostException first = null;
      for (int i = leases.size() - 1; i >= 0; i--) {
        try {
          leases.get(i).close();
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
  }
}
