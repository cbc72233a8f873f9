package io.mortise.internal.client;

import io.mortise.DistributedLock;
import io.mortise.JavaLock;
import io.mortise.Lease;
import io.mortise.LockException;
import io.mortise.LockName;
import io.mortise.LockOptions;
import io.mortise.LockTimeoutException;
import io.mortise.StoreUnavailableException;
import io.mortise.event.LockListener.AcquireOutcome;
import io.mortise.internal.engine.Engine;
import io.mortise.internal.engine.state.Waiter;
import io.mortise.internal.runtime.FailureText;
import io.mortise.spi.Mode;
import io.mortise.spi.time.DurationText;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/** A lock for users: turns calls into {@link Waiter}s, and parks. */
final class EngineLock implements DistributedLock {
  private final EngineClient client;
  private final Engine engine;
  private final LockName name;
  private final Mode mode;
  private final LockOptions options;

  EngineLock(EngineClient client, LockName name, Mode mode, LockOptions options) {
    this.client = client;
    this.engine = client.engine(name);
    this.name = name;
    this.mode = mode;
    this.options = options;
  }

  @Override
  public String name() {
    return name.value();
  }

  @Override
  public String toString() {
    return "DistributedLock[%s, %s, %s]".formatted(name.value(), mode.text(), client.display());
  }

  @Override
  public DistributedLock with(LockOptions other) {
    if (Objects.requireNonNull(other, "options").sticky() != null && !mode.equals(Mode.EXCLUSIVE)) {
      throw new IllegalArgumentException(
          "Only an exclusive lock can be sticky, and '%s' is %s. Leave sticky out."
              .formatted(name, mode.text()));
    }
    return new EngineLock(client, name, mode, other);
  }

  @Override
  public Lease acquire() throws InterruptedException {
    return lease(await(Waiter.ENDLESS));
  }

  @Override
  public Lease acquireWithin(Duration wait) throws InterruptedException {
    Waiter waiter = await(checked(wait));
    if (waiter.state() == Waiter.WaiterState.GRANTED) {
      return lease(waiter);
    }
    if (waiter.state() == Waiter.WaiterState.FAILED) {
      throw waiter.failureHere();
    }
    throw timeout(waiter, wait);
  }

  @Override
  public Optional<Lease> tryAcquire() {
    return endTry(beginTry());
  }

  /**
   * Sends a try, and does not wait for its answer. {@link #endTry} or {@link #abandonTry} has to
   * follow, or a grant stays held.
   */
  Waiter beginTry() {
    Waiter waiter = waiter(true, false, null);
    waiter.arrive(engine.env().now());
    begin(waiter);
    return waiter;
  }

  /**
   * Waits for the answer to a try, until the store's timeout is over. An interrupt does not end it.
   */
  Optional<Lease> endTry(Waiter waiter) {
    help(waiter, engine.tryNanos());
    boolean interrupted = false;
    while (!waiter.isDone()) {
      long left = tryLeft(waiter);
      if (left <= 0) {
        engine.expireTry(waiter);
      } else {
        waiter.park(left);
        interrupted |= Thread.interrupted();
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    engine.events().acquireEnded(waiter);
    return outcome(waiter);
  }

  /**
   * Waits for the answer to a try, until the store's timeout or a given time is over.
   *
   * @param waitNanos from now; endless for the store's timeout alone
   * @return empty if another holds the lock, or the given time is over
   */
  Optional<Lease> endTry(Waiter waiter, long waitNanos) throws InterruptedException {
    help(waiter, Math.min(waitNanos, engine.tryNanos()));
    park(waiter, waitNanos == Waiter.ENDLESS ? Waiter.ENDLESS : engine.env().now() + waitNanos, 0);
    engine.events().acquireEnded(waiter);
    return outcome(waiter);
  }

  /** The time limit of a try. */
  long tryNanos() {
    return engine.tryNanos();
  }

  private long tryLeft(Waiter tried) {
    return tried.arrivedAt() + engine.tryNanos() - engine.env().now();
  }

  /** Gives a try up, and releases its grant if there is one. Does not block. */
  void abandonTry(Waiter waiter) {
    if (engine.cancel(waiter)) {
      engine.events().acquireEnded(waiter, AcquireOutcome.CANCELLED, "");
    } else {
      engine.events().acquireEnded(waiter);
      if (waiter.state() == Waiter.WaiterState.GRANTED) {
        engine.giveBack(waiter.lease());
      }
    }
  }

  @Override
  public Optional<Lease> tryAcquire(Duration wait) throws InterruptedException {
    Waiter waiter = await(checked(wait));
    return waiter.isRefusedByFullQueue() ? Optional.empty() : outcome(waiter);
  }

  /** As {@link #acquire()}, but continues when the thread is interrupted. */
  Lease acquireUninterruptibly() {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return acquire();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Waits until the lock is granted, the wait has failed, or its time is over; see {@link
   * #outcome}.
   */
  Waiter await(long waitNanos) throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException("interrupted before waiting for lock '" + name + "'");
    }
    Waiter waiter = waiter(waitNanos == 0, waitNanos == Waiter.ENDLESS, null);
    // A caller without time to wait for the lock still waits for the answer.
    boolean bounded = waitNanos != Waiter.ENDLESS && waitNanos != 0;
    long arrivedAt = waitNanos == Waiter.ENDLESS ? 0 : engine.env().now();
    waiter.arrive(arrivedAt);
    begin(waiter);
    help(waiter, waitNanos == 0 ? engine.tryNanos() : waitNanos);
    park(
        waiter,
        bounded ? arrivedAt + waitNanos : Waiter.ENDLESS,
        bounded ? Engine.finalPollLead(waitNanos) : 0);
    engine.events().acquireEnded(waiter);
    return waiter;
  }

  /**
   * Parks until the wait is over.
   *
   * @param deadline the time of its cancellation; endless if never, or for a try by the store's
   *     timeout
   * @param finalPollLead how long before that the store is polled once more; 0 if it is not
   */
  private void park(Waiter waiter, long deadline, long finalPollLead) throws InterruptedException {
    boolean asked = finalPollLead == 0;
    while (!waiter.isDone()) {
      long tryLeft = waiter.isTry() ? tryLeft(waiter) : Waiter.ENDLESS;
      if (tryLeft <= 0) {
        engine.expireTry(waiter);
        continue;
      }
      if (deadline == Waiter.ENDLESS) {
        waiter.park(tryLeft);
      } else {
        long left = deadline - engine.env().now();
        if (left <= 0) {
          if (engine.cancel(waiter)) {
            return;
          }
          continue;
        }
        if (!asked && left <= finalPollLead) {
          asked = true;
          engine.onDeadlineNear(waiter);
        }
        waiter.park(Math.min(tryLeft, asked ? left : left - finalPollLead));
      }
      if (waiter.isDone()) {
        return;
      }
      if (Thread.interrupted()) {
        if (engine.cancel(waiter)) {
          engine.events().acquireEnded(waiter, AcquireOutcome.INTERRUPTED, "");
          throw new InterruptedException("interrupted while waiting for lock '" + name + "'");
        }
        Thread.currentThread().interrupt();
        return;
      }
      engine.onWakeUp(waiter);
    }
  }

  private void begin(Waiter waiter) {
    try {
      engine.begin(waiter);
    } catch (RuntimeException e) {
      engine.events().acquireEnded(waiter, AcquireOutcome.REFUSED, FailureText.said(e));
      throw e;
    }
  }

  private void help(Waiter waiter, long waitNanos) {
    if (!waiter.isDone()) {
      engine.helpWhileWaiting(
          waiter::isDone,
          waitNanos == Waiter.ENDLESS ? Engine.HOWEVER_LONG : Duration.ofNanos(waitNanos));
    }
  }

  private Waiter waiter(
      boolean tryOnly, boolean endless, @org.jspecify.annotations.Nullable Runnable listener) {
    Waiter waiter = new Waiter(name, mode, options, tryOnly, endless, listener);
    engine.acquireBegins(waiter);
    return waiter;
  }

  private Lease lease(Waiter waiter) {
    return outcome(waiter)
        .orElseThrow(() -> new LockException("Lock '" + name + "' was not granted."));
  }

  /** The lease of an ended wait; empty if its time was over. */
  Optional<Lease> outcome(Waiter waiter) {
    switch (waiter.state()) {
      case GRANTED -> {
        return Optional.of(client.leaks().watch(waiter.lease()));
      }
      case FAILED -> throw waiter.failureHere();
      default -> {
        Throwable storeFailure = waiter.storeFailure();
        if (storeFailure != null) {
          throw engine.unavailable(name, storeFailure);
        }
        return Optional.empty();
      }
    }
  }

  private LockException timeout(Waiter waiter, Duration wait) {
    return timeout(
        waiter,
        "Could not acquire lock '"
            + name
            + "' within "
            + DurationText.format(wait)
            + " (store="
            + engine.storeName()
            + "). ");
  }

  /**
   * The failure for a caller whose wait for this lock has ended without it.
   *
   * @param message names the lock that was not acquired; the reason is appended
   */
  LockException timeout(Waiter waiter, String message) {
    Throwable storeFailure = waiter.storeFailure();
    if (storeFailure != null) {
      return engine.unavailable(name, storeFailure);
    }
    StoreUnavailableException unanswered = waiter.unanswered();
    return unanswered == null
        ? new LockTimeoutException(message + TimeoutText.of(client, engine, waiter))
        : new LockTimeoutException(
            message + unanswered.getMessage() + " Check the store and the network to it.",
            unanswered);
  }

  /** The wait in nanoseconds, at most {@link Engine#HOWEVER_LONG}; refuses negative times. */
  static long checked(Duration wait) {
    if (Objects.requireNonNull(wait, "wait").isNegative()) {
      throw new IllegalArgumentException(
          "Cannot wait for "
              + DurationText.format(wait)
              + ". Give a time to wait that is not negative.");
    }
    return (wait.compareTo(Engine.HOWEVER_LONG) > 0 ? Engine.HOWEVER_LONG : wait).toNanos();
  }

  @Override
  public CompletableFuture<Lease> acquireAsync() {
    return new AsyncAcquire(engine, client.leaks())
        .begin(listener -> waiter(false, false, listener), null);
  }

  @Override
  public CompletableFuture<Lease> acquireAsync(Duration wait) {
    long nanos = checked(wait);
    return nanos == 0 ? tryAsync(Waiter.ENDLESS) : acquireAsync(false, nanos);
  }

  /**
   * A try without a waiting thread.
   *
   * @param waitNanos the wait for its answer; endless for the store's timeout alone
   * @return as {@link #acquireAsync(Duration)} with zero
   */
  CompletableFuture<Lease> tryAsync(long waitNanos) {
    return acquireAsync(true, waitNanos);
  }

  private CompletableFuture<Lease> acquireAsync(boolean tryOnly, long nanos) {
    // A try without a limit of its own does not wait for the lock.
    Duration wait = nanos == Waiter.ENDLESS ? Duration.ZERO : Duration.ofNanos(nanos);
    return new AsyncAcquire(engine, client.leaks())
        .begin(
            listener -> {
              Waiter waiter = waiter(tryOnly, false, listener);
              waiter.arrive(engine.env().now());
              return waiter;
            },
            new AsyncAcquire.WaitLimit(nanos, waiter -> timeout(waiter, wait)));
  }

  @Override
  public <T> CompletableFuture<T> withLockAsync(
      Function<Lease, ? extends CompletionStage<T>> task) {
    Objects.requireNonNull(task, "task");
    return AsyncAcquire.thenRelease(acquireAsync(), task, Lease::releaseAsync);
  }

  @Override
  public JavaLock asJavaLock() {
    return new ThreadOwnedLock(this);
  }
}
