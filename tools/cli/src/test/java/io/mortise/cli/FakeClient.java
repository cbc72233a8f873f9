package io.mortise.cli;

import io.mortise.DistributedLock;
import io.mortise.DistributedOnce;
import io.mortise.DistributedReadWriteLock;
import io.mortise.DistributedSemaphore;
import io.mortise.FencingToken;
import io.mortise.JavaLock;
import io.mortise.LeaderOptions;
import io.mortise.Leadership;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockException;
import io.mortise.LockGroup;
import io.mortise.LockOptions;
import io.mortise.LockTimeoutException;
import io.mortise.admin.Eviction;
import io.mortise.admin.EvictionResult;
import io.mortise.admin.LockAdmin;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.admin.SessionInfo;
import io.mortise.admin.StoreInfo;
import io.mortise.admin.StoreInfo.Feature;
import io.mortise.event.LeaseEnd;
import io.mortise.function.CheckedConsumer;
import io.mortise.function.CheckedSupplier;
import io.mortise.recipe.DistributedBarrier;
import io.mortise.recipe.DistributedLatch;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * A client without a store. The name of a lock decides its fate: {@code taken} is never granted,
 * {@code unrenewed} is valid for {@link #UNRENEWED} and never renewed, {@code brief} is renewed by
 * the second, {@code evicted} is lost two seconds after the grant, and so is {@code shut}, which
 * the store keeps taken for its holder, {@code outdated} is lost before it is granted, {@code
 * warned} makes the store log a warning about its server, and an operator ends the first wait for
 * {@code awaited}.
 */
final class FakeClient implements LockClient {
  static final Duration UNRENEWED = Duration.ofSeconds(8);

  /** Printed when a wait for {@code taken} begins. */
  static final String WAITS = "waits for taken";

  /** Printed with the time for which a lease keeps its lock taken. */
  static final String SHUT_FOR = "keeps its lock shut for ";

  /** The validity of {@code brief}, at any moment. */
  private static final Duration BRIEF = Duration.ofSeconds(5);

  final List<LockInfo> views = new ArrayList<>();
  final List<String> done = new ArrayList<>();

  @Override
  public DistributedLock lock(String name) {
    return new FakeLock(name);
  }

  @Override
  public DistributedOnce once(String key) {
    throw new UnsupportedOperationException();
  }

  @Override
  public DistributedLatch latch(String name, int parties) {
    throw new UnsupportedOperationException();
  }

  @Override
  public DistributedBarrier barrier(String name, int parties) {
    throw new UnsupportedOperationException();
  }

  @Override
  public DistributedReadWriteLock readWriteLock(String name) {
    throw new UnsupportedOperationException();
  }

  @Override
  public DistributedSemaphore semaphore(String name, int permits) {
    throw new UnsupportedOperationException();
  }

  @Override
  public LockGroup allOf(String... names) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Leadership leader(
      String name,
      LeaderOptions options,
      CheckedConsumer<? super Leadership.Term, ? extends Exception> task) {
    throw new UnsupportedOperationException();
  }

  @Override
  public LockAdmin admin() {
    return new FakeAdmin();
  }

  @Override
  public void close() {
    done.add("close");
  }

  private static final class FakeLock implements DistributedLock {
    private final String name;
    private boolean evicted;

    FakeLock(String name) {
      this.name = name;
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public Lease acquire() {
      throw new UnsupportedOperationException();
    }

    @Override
    public Lease acquireWithin(Duration wait) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Optional<Lease> tryAcquire() {
      return name.equals("taken") ? Optional.empty() : Optional.of(new FakeLease(name));
    }

    @Override
    public Optional<Lease> tryAcquire(Duration wait) {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
      if (name.equals("warned")) {
        LoggerFactory.getLogger(FakeClient.class)
            .warn("Server says: {}", "\u001b]0;evil\u0007 password=s3cret");
      }
      if (name.equals("awaited") && !evicted) {
        evicted = true;
        return CompletableFuture.failedFuture(
            new LockException("The wait for lock 'awaited' was ended by an operator."));
      }
      if (name.equals("taken")) {
        System.err.println(WAITS);
        return new CompletableFuture<>();
      }
      return CompletableFuture.completedFuture(new FakeLease(name));
    }

    @Override
    public CompletableFuture<Lease> acquireAsync(Duration wait) {
      CompletableFuture<Lease> attempt = acquireAsync();
      CompletableFuture.delayedExecutor(wait.toMillis(), TimeUnit.MILLISECONDS)
          .execute(
              () -> attempt.completeExceptionally(new LockTimeoutException("Not had in time.")));
      return attempt;
    }

    @Override
    public <T> CompletableFuture<T> withLockAsync(
        Function<Lease, ? extends CompletionStage<T>> task) {
      throw new UnsupportedOperationException();
    }

    @Override
    public JavaLock asJavaLock() {
      throw new UnsupportedOperationException();
    }

    @Override
    public DistributedLock with(LockOptions options) {
      return this;
    }
  }

  /** A lease that behaves according to the lock's name. */
  static final class FakeLease implements Lease {
    private final String name;
    private final long granted = System.nanoTime();
    private volatile boolean lost;
    private volatile boolean closed;

    FakeLease(String name) {
      this.name = name;
      lost = name.equals("outdated");
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public long token() {
      return 917;
    }

    @Override
    public FencingToken fencingToken() {
      throw new UnsupportedOperationException();
    }

    @Override
    public State state() {
      return closed && !lost ? State.RELEASED : isValid() ? State.HELD : State.LOST;
    }

    @Override
    public boolean isValid() {
      return !closed && !lost && !remaining().isZero();
    }

    @Override
    public Duration remaining() {
      if (lost) {
        return Duration.ZERO;
      }
      if (name.equals("brief")) {
        return BRIEF;
      }
      if (!name.equals("unrenewed")) {
        return Duration.ofSeconds(15);
      }
      Duration left = UNRENEWED.minusNanos(System.nanoTime() - granted);
      return left.isNegative() ? Duration.ZERO : left;
    }

    @Override
    public void ensureValid() {
      throw new UnsupportedOperationException();
    }

    @Override
    public void onLost(Consumer<? super LeaseLostException> listener) {
      if (name.equals("evicted") || name.equals("shut")) {
        CompletableFuture.delayedExecutor(2, TimeUnit.SECONDS)
            .execute(
                () -> {
                  lost = true;
                  listener.accept(evicted());
                });
      }
    }

    @Override
    public <T, X extends Exception> T run(CheckedSupplier<T, X> task) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void extend(Duration atMost) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void keepShut(Duration atLeast) {
      System.err.println(SHUT_FOR + atLeast);
    }

    @Override
    public void downgrade() {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<Void> releaseAsync() {
      throw new UnsupportedOperationException();
    }

    @Override
    public void close() {
      boolean valid = isValid();
      closed = true;
      if (!valid) {
        lost = true;
        throw evicted();
      }
    }

    private LeaseLostException evicted() {
      return new LeaseLostException(
          "Lease on lock '%s' was lost: an operator evicted it (store=fake, token=917)."
              .formatted(name),
          LeaseEnd.EVICTED);
    }
  }

  /** Shows {@link #views}, and records actions. */
  private final class FakeAdmin implements LockAdmin {
    @Override
    public Optional<LockInfo> find(String name) {
      return views.stream().filter(view -> view.name().equals(name)).findFirst();
    }

    @Override
    public Page<LockInfo> list(LockQuery query) {
      // One lock per page, to test paging.
      String cursor = query.cursor();
      int at = cursor == null ? 0 : Integer.parseInt(cursor);
      return at >= views.size()
          ? new Page<>(List.of(), null)
          : new Page<>(
              views.subList(at, at + 1).stream()
                  .filter(view -> view.name().startsWith(query.prefix()))
                  .toList(),
              at + 1 < views.size() ? Integer.toString(at + 1) : null);
    }

    @Override
    public Page<SessionInfo> sessions(@Nullable String cursor, int limit) {
      return new Page<>(List.of(), null);
    }

    @Override
    public EvictionResult evict(String name, String attempt, Eviction how) {
      done.add(how + " " + name + " " + attempt);
      return EvictionResult.HOLD_ENDED;
    }

    @Override
    public boolean reopen(String name) {
      done.add("reopen " + name);
      return true;
    }

    @Override
    public StoreInfo store() {
      return new StoreInfo("fake", EnumSet.allOf(Feature.class), Duration.ofMillis(100));
    }
  }
}
