package io.mortise.testkit;

import io.mortise.spi.time.DurationText;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;

/** Reruns a test that failed during a pause of the machine; see {@link RerunIfPaused}. */
final class RerunIfPausedExtension implements InvocationInterceptor {
  private static final int TRIES = 3;

  /** The factor by which times grow from one run to the next. */
  private static final int LONGER = 3;

  @Override
  public void interceptTestMethod(
      Invocation<Void> invocation,
      ReflectiveInvocationContext<Method> called,
      ExtensionContext context)
      throws Throwable {
    run(invocation, called, context);
  }

  @Override
  public void interceptTestTemplateMethod(
      Invocation<Void> invocation,
      ReflectiveInvocationContext<Method> called,
      ExtensionContext context)
      throws Throwable {
    run(invocation, called, context);
  }

  private static void run(
      Invocation<Void> invocation,
      ReflectiveInvocationContext<Method> called,
      ExtensionContext context)
      throws Throwable {
    long before = lostMillis(context);
    try {
      invocation.proceed();
    } catch (Throwable e) {
      again(called, context, excusedOrThrow(e, called, lostMillis(context) - before));
    }
  }

  private static void again(
      ReflectiveInvocationContext<Method> called, ExtensionContext context, Throwable first)
      throws Throwable {
    Throwable last = first;
    int stretch = 1;
    try {
      for (int run = 2; run <= TRIES; run++) {
        stretch *= LONGER;
        PauseDetector.stretch(stretch);
        Object test = context.getRequiredTestInstance();
        callAll(test, AfterEach.class, context);
        callAll(test, BeforeEach.class, context);
        long before = lostMillis(context);
        try {
          call(test, called.getExecutable(), called.getArguments().toArray());
          return;
        } catch (Throwable e) {
          e.addSuppressed(last);
          last = excusedOrThrow(e, called, lostMillis(context) - before);
        }
      }
      throw last;
    } finally {
      PauseDetector.stretch(1);
    }
  }

  private static long lostMillis(ExtensionContext context) {
    long lost = TimeUnit.NANOSECONDS.toMillis(PauseDetector.lostNanos());
    return context.getRequiredTestInstance() instanceof RerunIfPaused.PauseSource pauseSource
        ? lost + pauseSource.lostMillis()
        : lost;
  }

  private static Throwable excusedOrThrow(
      Throwable failure, ReflectiveInvocationContext<Method> called, long lost) throws Throwable {
    RerunIfPaused marked = called.getExecutable().getAnnotation(RerunIfPaused.class);
    if (marked == null) {
      marked = called.getTargetClass().getAnnotation(RerunIfPaused.class);
    }
    // By name, as the type is from a library not needed otherwise.
    boolean aborted = failure.getClass().getSimpleName().equals("TestAbortedException");
    if (aborted || marked == null || lost < marked.millis()) {
      throw failure;
    }
    System.out.printf(
        "PAUSED for %s, so this does not count: %s.%s: %s%n",
        DurationText.format(Duration.ofMillis(lost)),
        called.getTargetClass().getName(),
        called.getExecutable().getName(),
        failure);
    return failure;
  }

  /** Setup begins with the superclass, cleanup ends with it. */
  private static void callAll(
      Object test, Class<? extends java.lang.annotation.Annotation> mark, ExtensionContext context)
      throws Throwable {
    List<Method> methods = new ArrayList<>();
    for (Class<?> type = test.getClass(); type != Object.class; type = type.getSuperclass()) {
      for (Method method : type.getDeclaredMethods()) {
        if (method.isAnnotationPresent(mark)) {
          methods.add(method);
        }
      }
    }
    if (mark == BeforeEach.class) {
      Collections.reverse(methods);
    }
    for (Method method : methods) {
      Object[] arguments = new Object[method.getParameterCount()];
      for (int i = 0; i < arguments.length; i++) {
        arguments[i] = infoOf(context);
      }
      call(test, method, arguments);
    }
  }

  private static TestInfo infoOf(ExtensionContext context) {
    return new TestInfo() {
      @Override
      public String getDisplayName() {
        return context.getDisplayName();
      }

      @Override
      public java.util.Set<String> getTags() {
        return context.getTags();
      }

      @Override
      public java.util.Optional<Class<?>> getTestClass() {
        return context.getTestClass();
      }

      @Override
      public java.util.Optional<Method> getTestMethod() {
        return context.getTestMethod();
      }
    };
  }

  private static void call(Object test, Method method, Object[] arguments) throws Throwable {
    method.setAccessible(true);
    try {
      method.invoke(test, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }
}
