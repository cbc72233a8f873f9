package io.mortise.recipe.engine;

import io.mortise.DistributedLock;
import io.mortise.DistributedOnce;
import io.mortise.Lease;
import io.mortise.LeaseInDoubtException;
import io.mortise.LeaseLostException;
import io.mortise.LockException;
import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.function.CheckedFunction;
import io.mortise.internal.runtime.StoreCall;
import io.mortise.spi.Capability;
import io.mortise.spi.Fact;
import io.mortise.spi.LockStore;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Work to be done once: a lock for the run, and a text in the store for its outcome.
 *
 * <p>A run writes twice, each time only over the version that it has read or written before. The
 * first write records its begin, so that a run which lost its lease finds another version as soon
 * as its successor has begun. If the answer to a write is lost, the write is repeated while the
 * lease is valid; the name of the run in the text shows whether it was executed.
 */
final class EngineOnce implements DistributedOnce {
  private static final Duration SHORTEST = Duration.ofMillis(1);

  /** A begun run is remembered at least this long; it may take longer than its result is kept. */
  private static final Duration BEGUN = Duration.ofDays(1);

  private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final long MAX_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  /** Nothing has run yet: a store that keeps failing is reported after some 2.5 s. */
  private static final int MAX_BEGIN_TRIES = 9;

  private final Recipes recipes;
  private final LockStore store;
  private final StoreCall call;
  private final DistributedLock lock;
  private final String key;
  private final LockName fact;
  private final Duration keep;

  EngineOnce(Recipes recipes, DistributedLock lock, String key, Duration keep) {
    this.recipes = recipes;
    this.store = recipes.store();
    this.call = recipes.storeCall();
    this.lock = lock;
    this.key = key;
    this.fact = LockName.of(lock.name());
    this.keep = keep;
  }

  /** A way for a run to get the lock. */
  @FunctionalInterface
  private interface LeaseSource {
    Lease acquire() throws InterruptedException;
  }

  @Override
  public String key() {
    return key;
  }

  @Override
  public DistributedOnce keepFor(Duration time) {
    Duration kept = Recipes.checkedKeep("result", time, SHORTEST, "1 ms");
    return new EngineOnce(recipes, lock, key, kept);
  }

  @Override
  public <X extends Exception> OnceResult run(CheckedFunction<Lease, @Nullable String, X> task)
      throws X, InterruptedException {
    Objects.requireNonNull(task, "task");
    return run(lock::acquire, task);
  }

  @Override
  public <X extends Exception> OnceResult run(
      Duration wait, CheckedFunction<Lease, @Nullable String, X> task)
      throws X, InterruptedException {
    Objects.requireNonNull(task, "task");
    Recipes.checkedWait(wait);
    return run(() -> lock.acquireWithin(wait), task);
  }

  @Override
  public CompletableFuture<OnceResult> runAsync(
      Function<? super Lease, ? extends CompletionStage<@Nullable String>> task) {
    Objects.requireNonNull(task, "task");
    return new OnceRun(recipes, this, lock::acquireAsync, task).begin();
  }

  @Override
  public CompletableFuture<OnceResult> runAsync(
      Duration wait, Function<? super Lease, ? extends CompletionStage<@Nullable String>> task) {
    Objects.requireNonNull(task, "task");
    long unused = Recipes.checkedWait(wait);
    return new OnceRun(recipes, this, () -> lock.acquireAsync(wait), task).begin();
  }

  private <X extends Exception> OnceResult run(
      LeaseSource source, CheckedFunction<Lease, @Nullable String, X> task)
      throws X, InterruptedException {
    Recipes.refuseIfInterrupted("once '" + key + "'");
    Optional<OnceResult> before = stored(call.ask(() -> store.readFact(fact)));
    if (before.isPresent()) {
      return before.get();
    }
    Lease lease = source.acquire();
    OnceResult result;
    try {
      result = runUnder(lease, task);
    } catch (Throwable e) {
      try (lease) {
        throw e;
      }
    }
    close(lease);
    return result;
  }

  private <X extends Exception> OnceResult runUnder(
      Lease lease, CheckedFunction<Lease, @Nullable String, X> task)
      throws X, InterruptedException {
    OnceDocument begun = begun(lease);
    Duration known = known();
    long version = 0;
    while (version == 0) {
      Fact present = read();
      Optional<OnceDocument> found = decode(present);
      if (found.isPresent() && found.get().isDone()) {
        return result(found.get(), present.version(), false);
      } else if (found.isPresent() && found.get().token() > begun.token()) {
        throw overtaken(begun, found);
      }
      // An earlier run, which has lost its lease, may write or expire in between: read again.
      version = replace(lease, present.version(), begun, known, MAX_BEGIN_TRIES);
      Recipes.refuseIfInterrupted("the task of once '" + key + "'");
    }
    // The step may have taken as long as the lease.
    lease.ensureValid();
    String value = task.apply(lease);
    checkLength(value);
    OnceDocument done = begun.done(value);
    long stored = replace(lease, version, done, keep, Integer.MAX_VALUE);
    if (stored == 0) {
      throw overtaken(done, decode(read()));
    }
    return result(done, stored, true);
  }

  /** A stored result counts, even if the lease was lost after that. */
  private static void close(Lease lease) {
    try {
      lease.close();
    } catch (LeaseLostException e) {
      // The log has it; another caller finds the result.
    }
  }

  /**
   * Replaces the text by a step of a run that still holds the lock. Repeats the request after a
   * failure, since an earlier one may have been executed, and while the lease is in doubt. An
   * interrupt does not end it: the outcome of a finished task must be recorded.
   *
   * @return the new version; 0 if the text had a different version
   */
  private long replace(Lease lease, long version, OnceDocument step, Duration time, int tries) {
    long pauseNanos = FIRST_PAUSE_NANOS;
    for (int tried = 1; ; tried++) {
      try {
        lease.ensureValid();
        long written =
            call.askUninterruptibly(() -> store.replaceFact(fact, version, step.encode(), time));
        if (written > 0) {
          return written;
        }
        Fact present = read();
        boolean isWritten = decode(present).filter(found -> found.isSameStep(step)).isPresent();
        return isWritten ? present.version() : 0;
      } catch (StoreUnavailableException | LeaseInDoubtException e) {
        if (lease.state() == Lease.State.LOST || tried >= tries) {
          throw e;
        }
        pause(pauseNanos);
        pauseNanos = Math.min(2 * pauseNanos, MAX_PAUSE_NANOS);
      }
    }
  }

  private static void pause(long nanos) {
    boolean interrupted = Thread.interrupted(); // Otherwise the pause would have no length.
    LockSupport.parkNanos(nanos);
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  // ---- Shared with runs without a thread ----

  LockName fact() {
    return fact;
  }

  Duration keep() {
    return keep;
  }

  /** How long a begun run is remembered. */
  Duration known() {
    return keep.compareTo(BEGUN) < 0 ? BEGUN : keep;
  }

  OnceDocument begun(Lease lease) {
    boolean hasTokens = store.profile().can(Capability.TOKEN);
    return OnceDocument.begun(UUID.randomUUID().toString(), hasTokens ? lease.token() : 0);
  }

  Optional<OnceDocument> decode(Fact present) {
    return OnceDocument.decode(key, present);
  }

  /** The result in a text; empty if it has none. */
  Optional<OnceResult> stored(Fact present) {
    return decode(present)
        .filter(OnceDocument::isDone)
        .map(done -> result(done, present.version(), false));
  }

  void checkLength(@Nullable String value) {
    if (value != null && OnceDocument.bytes(value) > MAX_RESULT_BYTES) {
      throw new IllegalArgumentException(
          "The result under key '%s' has %s bytes, and at most %s can be stored. The task has run, and nothing was stored: return a reference to the result."
              .formatted(key, OnceDocument.bytes(value), MAX_RESULT_BYTES));
    }
  }

  LockException overtaken(OnceDocument step, Optional<OnceDocument> found) {
    return new LockException(
        "The run under key '%s' was overtaken: %s. The task %s here (token=%s)."
            .formatted(
                key,
                found.isPresent() ? "another one has begun" : "its mark was removed",
                step.isDone() ? "has run, and nothing was stored" : "has not run",
                step.token()));
  }

  private Fact read() {
    return call.askUninterruptibly(() -> store.readFact(fact));
  }

  static OnceResult result(OnceDocument done, long version, boolean ranHere) {
    return new OnceResult(
        ranHere,
        Optional.ofNullable(done.value()),
        Instant.EPOCH.plus(version, ChronoUnit.MICROS),
        done.token());
  }

  @Override
  public Optional<OnceResult> result() {
    return stored(read());
  }

  @Override
  public boolean forget() {
    Fact present = read();
    return stored(present).isPresent()
        && call.askUninterruptibly(() -> store.replaceFact(fact, present.version(), "", SHORTEST))
            > 0;
  }

  @Override
  public String toString() {
    return "DistributedOnce[%s, %s]".formatted(key, store.profile().display());
  }
}
