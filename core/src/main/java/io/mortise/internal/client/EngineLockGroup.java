package io.mortise.internal.client;

import io.mortise.DistributedLock;
import io.mortise.GroupLease;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockException;
import io.mortise.LockGroup;
import io.mortise.LockTimeoutException;
import io.mortise.spi.time.DurationText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Takes several locks in the order of their names' bytes; lets go of all if one cannot be had. */
final class EngineLockGroup implements LockGroup {
  private static final Logger log = LoggerFactory.getLogger(EngineLockGroup.class);

  private final EngineClient client;
  private final List<DistributedLock> locks;

  EngineLockGroup(EngineClient client, List<DistributedLock> locksInOrder) {
    this.client = client;
    this.locks = List.copyOf(locksInOrder);
  }

  /** Takes one lock; null if it could not be had. */
  private interface LeaseAcquirer {
    @Nullable Lease take(DistributedLock lock) throws InterruptedException;
  }

  @Override
  public GroupLease acquire() throws InterruptedException {
    return all(DistributedLock::acquire)
        .orElseThrow(() -> new LockException("A lock of the group was not granted."));
  }

  @Override
  public Optional<GroupLease> tryAcquire(Duration wait) throws InterruptedException {
    long deadline = EngineLock.checked(wait) + client.now();
    return all(
        lock -> {
          long left = Math.max(0, deadline - client.now());
          return lock.tryAcquire(Duration.ofNanos(left)).orElse(null);
        });
  }

  @Override
  public GroupLease acquireWithin(Duration wait) throws InterruptedException {
    return tryAcquire(wait).orElseThrow(() -> timeout(wait));
  }

  private LockTimeoutException timeout(Duration wait) {
    return new LockTimeoutException(
        "Could not acquire all of %s within %s; none is held. Raise the wait time, or shorten what is done under the locks."
            .formatted(
                locks.stream().map(DistributedLock::name).toList(), DurationText.format(wait)));
  }

  @Override
  public CompletableFuture<GroupLease> acquireAsync() {
    return new Pending(DistributedLock::acquireAsync, failure -> failure).begin();
  }

  @Override
  public CompletableFuture<GroupLease> acquireAsync(Duration wait) {
    long deadline = EngineLock.checked(wait) + client.now();
    return new Pending(
            lock -> lock.acquireAsync(Duration.ofNanos(Math.max(0, deadline - client.now()))),
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
    try {
      return all(lock -> lock.tryAcquire().orElse(null));
    } catch (InterruptedException e) {
      throw new IllegalStateException("cannot be: tryAcquire() is not interruptible", e);
    }
  }

  private Optional<GroupLease> all(LeaseAcquirer leaseAcquirer) throws InterruptedException {
    List<Lease> taken = new ArrayList<>();
    boolean complete = false;
    try {
      for (DistributedLock lock : locks) {
        Lease lease = leaseAcquirer.take(lock);
        if (lease == null) {
          return Optional.empty();
        }
        taken.add(lease);
      }
      complete = true;
      return Optional.of(new EngineGroupLease(List.copyOf(taken)));
    } finally {
      if (!complete) {
        releaseQuietly(taken);
      }
    }
  }

  @Override
  public String toString() {
    return "LockGroup" + locks.stream().map(DistributedLock::name).toList();
  }

  private static void releaseQuietly(List<Lease> taken) {
    for (int i = taken.size() - 1; i >= 0; i--) {
      try {
        taken.get(i).close();
      } catch (LeaseLostException notHeldAnyMore) {
        log.debug("A lock of a group that was not had was lost meanwhile.", notHeldAnyMore);
      }
    }
  }

  /** An acquire that no thread waits for: one lock after the other, each when it is granted. */
  private final class Pending {
    private final Function<DistributedLock, CompletableFuture<Lease>> acquire;
    private final UnaryOperator<Throwable> failureOf;
    private final CompletableFuture<GroupLease> future = new CompletableFuture<>();
    private final List<Lease> taken = new ArrayList<>();
    private volatile CompletableFuture<?> current = future;

    Pending(
        Function<DistributedLock, CompletableFuture<Lease>> acquire,
        UnaryOperator<Throwable> failureOf) {
      this.acquire = acquire;
      this.failureOf = failureOf;
    }

    CompletableFuture<GroupLease> begin() {
      acquireNext();
      CompletableFuture<GroupLease> watched =
          future.whenComplete(
              (lease, failure) -> {
                if (failure != null) {
                  current.cancel(true);
                }
              });
      assert watched != null;
      return future;
    }

    private void acquireNext() {
      if (taken.size() == locks.size()) {
        if (!future.complete(new EngineGroupLease(List.copyOf(taken)))) {
          giveBack();
        }
        return;
      }
      CompletableFuture<Lease> next = acquire.apply(locks.get(taken.size()));
      current = next;
      if (future.isDone()) {
        next.cancel(true);
      }
      CompletableFuture<Lease> watched = next.whenComplete(this::answered);
      assert watched != null;
    }

    private void answered(@Nullable Lease lease, @Nullable Throwable failure) {
      if (lease == null) {
        giveBack();
        future.completeExceptionally(
            failureOf.apply(failure == null ? new CancellationException() : failure));
      } else {
        taken.add(lease);
        if (future.isDone()) {
          giveBack();
        } else {
          acquireNext();
        }
      }
    }

    private void giveBack() {
      CompletableFuture<Void> unused = new EngineGroupLease(List.copyOf(taken)).releaseAsync();
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
