package io.mortise.spring;

import java.lang.reflect.Method;
import org.springframework.core.MethodParameter;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

/**
 * Kotlin's suspend functions. Spring shows their result to interceptors as a {@code Mono}, if
 * Kotlin's bridge to Reactor is present.
 */
final class SuspendFunctions {
  private static final String CONTINUATION = "kotlin.coroutines.Continuation";
  private static final ClassLoader LOADER = SuspendFunctions.class.getClassLoader();

  /** Whether Spring can call them through proxies here. */
  static final boolean ARE_SERVED =
      LockedMethodParser.HAS_REACTOR
          && ClassUtils.isPresent("kotlinx.coroutines.reactor.MonoKt", LOADER)
          && ClassUtils.isPresent("kotlin.reflect.full.KClasses", LOADER);

  private SuspendFunctions() {}

  /** Whether its last parameter is the one that the compiler adds. */
  static boolean isSuspend(Method method) {
    Class<?>[] given = method.getParameterTypes();
    return given.length > 0 && given[given.length - 1].getName().equals(CONTINUATION);
  }

  /** A method's result type; for a suspend function, the one in its source. */
  static ResolvableType result(Method method, Class<?> targetClass) {
    return isSuspend(method)
        ? ResolvableType.forMethodParameter(method, method.getParameterCount() - 1, targetClass)
            .getGeneric(0)
        : ResolvableType.forMethodReturnType(method, targetClass);
  }

  static void refuseUnserved(Method method) {
    if (!ARE_SERVED) {
      throw new IllegalArgumentException(
          "Spring cannot intercept suspend functions here, such as "
              + method.getName()
              + ". Add io.projectreactor:reactor-core, kotlinx-coroutines-reactor and kotlin-reflect"
              + " to the class path, or lock inside it by SuspendLock of mortise-kotlin");
    }
  }

  /** A skipped call returns null, which Kotlin's callers must expect. */
  static void refuseSkip(Method method, ResolvableType result) {
    if (!result.toClass().getName().equals("kotlin.Unit")
        && !new MethodParameter(method, -1).isOptional()) {
      throw new IllegalArgumentException(
          "SKIP has nothing to return: its result is never null. Return a nullable type, or use"
              + " IfBusy.THROW");
    }
  }
}
