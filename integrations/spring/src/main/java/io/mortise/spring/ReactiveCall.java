package io.mortise.spring;

import io.mortise.LeaseLostException;
import java.util.Collection;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.core.ReactiveAdapter;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * A call whose work is done by subscriptions: each acquires the locks, calls the method, subscribes
 * to its result, and releases at its end. Loaded only with Reactor.
 */
final class ReactiveCall {
  private ReactiveCall() {}

  static Object of(LockedMethod method, Collection<String> names, MethodInvocation invocation) {
    ReactiveAdapter adapter = Objects.requireNonNull(method.adapter());
    LockPlan plan = method.plan();
    Mono<HeldLocks> acquired = acquire(plan, names);
    Publisher<?> locked =
        adapter.isMultiValue()
            ? Flux.usingWhen(
                acquired,
                held ->
                    inCaller(plan, held)
                        .thenMany(many(plan, held, () -> body(held, adapter, invocation)))
                        .contextWrite(
                            context -> context.put(LockContext.KEY, LockContext.of(held.holds()))),
                ReactiveCall::release,
                ReactiveCall::release,
                ReactiveCall::releaseQuietly)
            : Mono.usingWhen(
                acquired,
                held ->
                    inCaller(plan, held)
                        .then(one(plan, held, () -> body(held, adapter, invocation)))
                        .contextWrite(
                            context -> context.put(LockContext.KEY, LockContext.of(held.holds()))),
                ReactiveCall::release,
                ReactiveCall::release,
                ReactiveCall::releaseQuietly);
    return adapter.fromPublisher(
        locked instanceof Mono<?> one
            ? one.onErrorMap(ReactiveCall::lossAlone)
            : Flux.from(locked).onErrorMap(ReactiveCall::lossAlone));
  }

  /** The failure of the release after a body that succeeded, without Reactor's wrapper. */
  private static Throwable lossAlone(Throwable failure) {
    return failure.getClass() == RuntimeException.class
            && failure.getCause() instanceof LeaseLostException loss
        ? loss
        : failure;
  }

  private static Flux<Object> many(
      LockPlan plan, HeldLocks held, Supplier<Publisher<Object>> body) {
    Flux<Object> many = Flux.defer(body);
    if (!plan.interrupts()) {
      return many;
    }
    // An error of the other publisher would not cancel this one: it ends by a value, and then
    // fails.
    AtomicReference<@Nullable Throwable> loss = new AtomicReference<>();
    Mono<Object> lost =
        lost(held)
            .onErrorResume(
                failure -> {
                  loss.set(failure);
                  return Mono.just(failure);
                });
    return many.takeUntilOther(lost)
        .concatWith(
            Mono.defer(
                () -> {
                  Throwable failure = loss.get();
                  return failure == null ? Mono.empty() : Mono.error(failure);
                }));
  }

  private static Mono<Object> one(LockPlan plan, HeldLocks held, Supplier<Publisher<Object>> body) {
    // Direct: work after the value, such as a commit, must not be cancelled by it.
    Mono<Object> one = Mono.defer(() -> Mono.fromDirect(body.get()));
    return plan.interrupts() ? Mono.firstWithSignal(one, lost(held)) : one;
  }

  private static Mono<HeldLocks> acquire(LockPlan plan, Collection<String> names) {
    return Mono.create(sink -> new ReactiveAcquire(sink).begin(plan, names));
  }

  /** An acquire that its subscriber may cancel at any time, also while the grant arrives. */
  private static final class ReactiveAcquire {
    private final MonoSink<HeldLocks> sink;
    private volatile boolean cancelled;
    private volatile @Nullable CompletableFuture<?> attempt;
    private volatile @Nullable HeldLocks granted;

    ReactiveAcquire(MonoSink<HeldLocks> sink) {
      this.sink = sink;
    }

    void begin(LockPlan plan, Collection<String> names) {
      sink.onCancel(this::cancel);
      attempt = HeldLocks.acquireAsync(plan, names, this::answered);
      if (cancelled) {
        cancel();
      }
    }

    private void answered(@Nullable HeldLocks held, @Nullable Throwable failure) {
      if (failure != null) {
        sink.error(failure);
      } else if (held == null) {
        sink.success();
      } else {
        // Stored first, then checked: a cancellation in between sees the grant, or is seen here.
        granted = held;
        if (cancelled) {
          releaseQuietly(held).subscribe();
        } else {
          sink.success(held);
        }
      }
    }

    /** The whole subscription is over, so any grant is unwanted. */
    private void cancel() {
      cancelled = true;
      CompletableFuture<?> present = attempt;
      if (present != null) {
        present.cancel(true);
      }
      HeldLocks held = granted;
      if (held != null) {
        releaseQuietly(held).subscribe();
      }
    }
  }

  private static Publisher<Object> body(
      HeldLocks held, ReactiveAdapter adapter, MethodInvocation invocation) {
    try (LockContext.Scope inside = LockContext.enter(held.holds())) {
      assert inside != null;
      held.ensureValid();
      return adapter.toPublisher(LockedInterceptor.proceed(LockedInterceptor.again(invocation)));
    } catch (Exception e) {
      return Flux.error(e);
    }
  }

  /** Fails when one of the leases is lost, and never ends otherwise. */
  private static Mono<Object> lost(HeldLocks held) {
    return Mono.create(
        sink -> {
          AtomicBoolean done = new AtomicBoolean();
          sink.onDispose(() -> done.set(true));
          for (Hold hold : held.holds()) {
            hold.lease()
                .onLost(
                    loss -> {
                      if (done.compareAndSet(false, true)) {
                        sink.error(
                            new LeaseLostException(
                                String.valueOf(loss.getMessage()), loss.end(), loss));
                      }
                    });
          }
        });
  }

  private static Mono<Void> inCaller(LockPlan plan, HeldLocks held) {
    return LockedMethodParser.HAS_REACTIVE_TRANSACTIONS
        ? ReactiveTransactionHolds.inCaller(held.holds(), plan.untilCommit())
        : Mono.empty();
  }

  /**
   * The same call behind the advice of {@code @Transactional}: a transaction that began in this
   * call holds the locks until it has ended.
   */
  static Object inTransaction(ReactiveAdapter adapter, MethodInvocation invocation)
      throws Exception {
    Publisher<Object> body = adapter.toPublisher(LockedInterceptor.proceed(invocation));
    Mono<Void> joined =
        ReactiveLockContext.current()
            .flatMap(context -> ReactiveTransactionHolds.inCall(context.holds()));
    return adapter.fromPublisher(
        adapter.isMultiValue() ? joined.thenMany(body) : joined.then(Mono.fromDirect(body)));
  }

  private static Mono<Void> release(HeldLocks held) {
    return Mono.fromFuture(held::releaseAsync, true);
  }

  private static Mono<Void> release(HeldLocks held, Throwable failure) {
    return release(held)
        .onErrorResume(
            loss -> {
              if (loss != failure) {
                failure.addSuppressed(loss);
              }
              return Mono.empty();
            });
  }

  private static Mono<Void> releaseQuietly(HeldLocks held) {
    return release(held).onErrorComplete();
  }
}
