package io.mortise.reactor;

import io.mortise.DistributedLock;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A lock around a {@code Mono} or a {@code Flux}. Each subscription acquires the lock, subscribes
 * to the body, and releases at its end: completion, failure or cancellation.
 *
 * <pre>{@code
 * ReactiveLock invoice = ReactiveLock.of(locks.lock("invoice/42"), Duration.ofSeconds(5));
 * invoice.withLease(lease -> repository.save(bill, lease.token()));
 * repository.findAll().transform(invoice::withLockMany);
 * }</pre>
 *
 * <p>Cancelling while the subscription waits gives the attempt up. A grant that arrives at the same
 * time is released. If the lease is lost, the body is cancelled and the subscriber gets {@link
 * LeaseLostException}. Completion and failure are signalled when the store has answered the
 * release; a cancelled subscription does not wait for that.
 *
 * <p>No method blocks. Signals come on the thread that the body uses, or on threads of Mortise: do
 * not block there, but {@code publishOn} a scheduler. Not re-entrant: a body that takes the same
 * lock again deadlocks. Immutable and thread-safe.
 */
public final class ReactiveLock {
  private final DistributedLock lock;
  private final @Nullable Duration wait;

  private ReactiveLock(DistributedLock lock, @Nullable Duration wait) {
    this.lock = Objects.requireNonNull(lock, "lock");
    this.wait = wait;
  }

  /** Subscriptions wait without limit. */
  public static ReactiveLock of(DistributedLock lock) {
    return new ReactiveLock(lock, null);
  }

  /**
   * Subscriptions wait at most that long. Zero tries once.
   *
   * @throws IllegalArgumentException if the time is negative
   */
  public static ReactiveLock of(DistributedLock lock, Duration wait) {
    if (wait.isNegative()) {
      throw new IllegalArgumentException("The wait of " + wait + " is negative.");
    }
    return new ReactiveLock(lock, wait);
  }

  /**
   * The same value, produced under the lock. Fails with the failure of {@link
   * DistributedLock#acquireAsync()} ({@link io.mortise.LockTimeoutException} if the lock could not
   * be acquired in time), with the body's failure, or with {@link LeaseLostException} if only the
   * lease was lost.
   *
   * @param body subscribed to under the lock
   */
  public <T> Mono<T> withLock(Mono<T> body) {
    Objects.requireNonNull(body, "body");
    return withLease(lease -> body);
  }

  /**
   * As {@link #withLock}, with the lease given to the body.
   *
   * @param body called under the lock, once a subscription, on a thread that it must not block
   */
  public <T> Mono<T> withLease(Function<? super Lease, ? extends Mono<T>> body) {
    Objects.requireNonNull(body, "body");
    return Mono.usingWhen(
            acquired(),
            lease -> Mono.firstWithSignal(Mono.defer(() -> begin(lease, body)), lost(lease)),
            ReactiveLock::release,
            ReactiveLock::release,
            ReactiveLock::releaseQuietly)
        .onErrorMap(ReactiveLock::lossAlone);
  }

  /**
   * The same values, produced under the lock, which is held until the last one or the cancellation.
   * Fails as {@link #withLock}.
   *
   * @param body subscribed to under the lock
   */
  public <T> Flux<T> withLockMany(Publisher<T> body) {
    Objects.requireNonNull(body, "body");
    return withLeaseMany(lease -> body);
  }

  /**
   * As {@link #withLockMany}, with the lease given to the body.
   *
   * @param body called under the lock, once a subscription, on a thread that it must not block
   */
  public <T> Flux<T> withLeaseMany(Function<? super Lease, ? extends Publisher<T>> body) {
    Objects.requireNonNull(body, "body");
    return Flux.usingWhen(
            acquired(),
            lease -> untilLost(lease, Flux.defer(() -> begin(lease, body))),
            ReactiveLock::release,
            ReactiveLock::release,
            ReactiveLock::releaseQuietly)
        .onErrorMap(ReactiveLock::lossAlone);
  }

  private static <P> P begin(Lease lease, Function<? super Lease, ? extends P> body) {
    lease.ensureValid();
    return body.apply(lease);
  }

  /**
   * An unused grant is released on either side of the race with a cancellation. Before the sink has
   * it, the future is cancelled; after that, {@code onCancel} finds it completed; and operators
   * that drop the value hand it to the discard hook. Releasing is idempotent.
   */
  private Mono<Lease> acquired() {
    return Mono.<Lease>create(
            sink -> {
              CompletableFuture<Lease> attempt =
                  wait == null ? lock.acquireAsync() : lock.acquireAsync(wait);
              sink.onCancel(() -> giveUp(attempt));
              var unused =
                  attempt.whenComplete(
                      (lease, failure) -> {
                        if (failure == null) {
                          sink.success(lease);
                        } else {
                          sink.error(failure);
                        }
                      });
            })
        .doOnDiscard(Lease.class, ReactiveLock::releaseUnused);
  }

  private static void giveUp(CompletableFuture<Lease> attempt) {
    if (!attempt.cancel(true) && !attempt.isCompletedExceptionally()) {
      releaseUnused(attempt.join());
    }
  }

  private static void releaseUnused(Lease lease) {
    var unused = lease.releaseAsync();
  }

  /** Fails when the lease is lost, and never ends otherwise. */
  private static <T> Mono<T> lost(Lease lease) {
    return Mono.create(
        sink ->
            lease.onLost(loss -> sink.error(new LeaseLostException(text(loss), loss.end(), loss))));
  }

  private static String text(LeaseLostException loss) {
    return String.valueOf(loss.getMessage());
  }

  private static <T> Flux<T> untilLost(Lease lease, Flux<T> body) {
    // An error of the other publisher would not cancel the body: it ends by a value, and then
    // fails.
    AtomicReference<@Nullable Throwable> loss = new AtomicReference<>();
    Mono<Object> lost =
        lost(lease)
            .onErrorResume(
                failure -> {
                  loss.set(failure);
                  return Mono.just(failure);
                });
    return body.takeUntilOther(lost)
        .concatWith(
            Mono.defer(
                () -> {
                  Throwable failure = loss.get();
                  return failure == null ? Mono.empty() : Mono.error(failure);
                }));
  }

  private static Mono<Void> release(Lease lease) {
    return Mono.fromFuture(lease::releaseAsync, true);
  }

  private static Mono<Void> release(Lease lease, Throwable failure) {
    return release(lease)
        .onErrorResume(
            loss -> {
              if (loss != failure) {
                failure.addSuppressed(loss);
              }
              return Mono.empty();
            });
  }

  private static Mono<Void> releaseQuietly(Lease lease) {
    return release(lease).onErrorComplete();
  }

  /** The failure of the release after a body that succeeded, without Reactor's wrapper. */
  private static Throwable lossAlone(Throwable failure) {
    return failure.getClass() == RuntimeException.class
            && failure.getCause() instanceof LeaseLostException loss
        ? loss
        : failure;
  }
}
