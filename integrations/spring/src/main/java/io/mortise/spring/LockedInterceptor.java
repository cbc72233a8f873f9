package io.mortise.spring;

import io.mortise.LockException;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.Collection;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.support.AopUtils;

/** Runs a call of a method with {@link Locked} under its locks. Thread-safe. */
final class LockedInterceptor implements MethodInterceptor {
  private static final Logger log = LoggerFactory.getLogger(LockedInterceptor.class);

  private final LockedMethods methods;

  LockedInterceptor(LockedMethods methods) {
    this.methods = methods;
  }

  @Override
  public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
    LockedMethod method = called(methods, invocation);
    Collection<String> names = method.names(invocation.getArguments());
    return switch (method.kind()) {
      case PLAIN -> callPlain(method, names, invocation);
      case STAGE ->
          StageCall.begin(method.plan(), names, method.skipped(), () -> stage(invocation));
      case STAGE_ON_EXECUTOR -> callOnExecutor(method, names, invocation);
      case REACTIVE -> ReactiveCall.of(method, names, invocation);
    };
  }

  /** The interceptor behind the advice of transactions, for methods with reactive results. */
  static MethodInterceptor inTransaction(LockedMethods methods) {
    return invocation ->
        ReactiveCall.inTransaction(
            Objects.requireNonNull(called(methods, invocation).adapter()), invocation);
  }

  private static LockedMethod called(LockedMethods methods, MethodInvocation invocation) {
    Object target = invocation.getThis();
    Class<?> targetClass =
        target == null
            ? invocation.getMethod().getDeclaringClass()
            : AopUtils.getTargetClass(target);
    return methods.of(invocation.getMethod(), targetClass);
  }

  @SuppressWarnings("NullAway") // The task may return null: its type parameter says so.
  private static @Nullable Object callPlain(
      LockedMethod method, Collection<String> names, MethodInvocation invocation) throws Exception {
    HeldLocks held = acquire(method, names);
    return held == null ? method.skipped() : held.run(method.plan(), () -> proceed(invocation));
  }

  private static @Nullable Object callOnExecutor(
      LockedMethod method, Collection<String> names, MethodInvocation invocation) throws Exception {
    HeldLocks held = acquire(method, names);
    return held == null ? method.skipped() : StageCall.run(held, () -> stage(invocation));
  }

  private static @Nullable HeldLocks acquire(LockedMethod method, Collection<String> names)
      throws InterruptedException {
    HeldLocks held;
    try {
      held = HeldLocks.acquire(method.plan(), names);
    } catch (InterruptedException e) {
      if (method.throwsInterrupted()) {
        throw e;
      }
      Thread.currentThread().interrupt();
      throw new LockException(
          "Interrupted while waiting for "
              + names
              + "; "
              + method
              + " was not run. Declare InterruptedException on the method to get that instead.",
          e);
    }
    if (held == null) {
      log.debug("Skipped {}: another holds {}.", method, names);
    }
    return held;
  }

  static @Nullable Object proceed(MethodInvocation invocation) throws Exception {
    try {
      return invocation.proceed();
    } catch (Exception | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new UndeclaredThrowableException(e);
    }
  }

  private static @Nullable CompletionStage<?> stage(MethodInvocation invocation) throws Exception {
    return (CompletionStage<?>) proceed(invocation);
  }

  /** A copy of the call, since an invocation proceeds only once. */
  static MethodInvocation again(MethodInvocation invocation) {
    return ((ProxyMethodInvocation) invocation).invocableClone();
  }
}
