package io.mortise.spring;

import io.mortise.LeaseLostException;
import java.util.Collection;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInvocation;
import org.reactivestreams.Publisher;
import org.springframework.core.ReactiveAdapter;
import org.springframework.util.ClassUtils;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * A call whose work is done by subscriptions: each acquires the locks, calls the method, subscribes
 * to its result, and releases at the end of that. Loaded only where Reactor is there.
 */
final class ReactiveCall {
  private static final boolean HAS_TRANSACTIONS =
      ClassUtils.isPresent(
          "org.springframework.transaction.reactive.TransactionSynchronization",
          ReactiveCall.class.getClassLoader());

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
                    untilCommit(plan, held)
                        .thenMany(many(plan, held, () -> body(held, adapter, invocation)))
                        .contextWrite(
                            context -> context.put(LockContext.KEY, LockContext.of(held.holds()))),
                ReactiveCall::release,
                ReactiveCall::release,
                ReactiveCall::releaseQuietly)
            : Mono.usingWhen(
                acquired,
                held ->
                    untilCommit(plan, held)
                        .then(one(plan, held, () -> body(held, adapter, invocation)))
                        .contextWrite(
                            context -> context.put(LockContext.KEY, LockContext.of(held.holds()))),
                ReactiveCall::release,
                ReactiveCall::release,
                ReactiveCall::releaseQuietly);
    return adapter.fromPublisher(locked);
  }

  private static Flux<Object> many(
      LockPlan plan, HeldLocks held, Supplier<Publisher<Object>> body) {
    Flux<Object> many = Flux.defer(body);
    return plan.interrupts() ? many.takeUntilOther(lost(held)) : many;
  }

  private static Mono<Object> one(LockPlan plan, HeldLocks held, Supplier<Publisher<Object>> body) {
    // Direct: what is done after the value, such as a commit, must not be cancelled by it.
    Mono<Object> one = Mono.defer(() -> Mono.fromDirect(body.get()));
    return plan.interrupts() ? one.takeUntilOther(lost(held)) : one;
  }

  private static Mono<HeldLocks> acquire(LockPlan plan, Collection<String> names) {
    return Mono.<HeldLocks>create(sink -> acquire(plan, names, sink))
        // A grant that races with a cancellation.
        .doOnDiscard(HeldLocks.class, held -> releaseQuietly(held).subscribe());
  }

  private static void acquire(LockPlan plan, Collection<String> names, MonoSink<HeldLocks> sink) {
    var attempt =
        HeldLocks.acquireAsync(
            plan,
            names,
            (held, failure) -> {
              if (failure != null) {
                sink.error(failure);
              } else if (held == null) {
                sink.success();
              } else {
                sink.success(held);
              }
            });
    sink.onCancel(() -> attempt.cancel(true));
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
                        sink.error(new LeaseLostException(String.valueOf(loss.getMessage()), loss));
                      }
                    });
          }
        });
  }

  private static Mono<Void> untilCommit(LockPlan plan, HeldLocks held) {
    return plan.untilCommit() && HAS_TRANSACTIONS
        ? ReactiveTransactionHolds.keepUntilCommit(held.holds())
        : Mono.empty();
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
