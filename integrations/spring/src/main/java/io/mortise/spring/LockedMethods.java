package io.mortise.spring;

import java.lang.reflect.Method;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.MethodClassKey;
import org.springframework.core.annotation.AnnotatedElementUtils;

/** The methods with {@link Locked}, each parsed once. Thread-safe. */
final class LockedMethods {
  private final LockedMethodParser parser;
  private final ConcurrentHashMap<MethodClassKey, LockedMethod> parsed = new ConcurrentHashMap<>();

  LockedMethods(LockedMethodParser parser) {
    this.parser = parser;
  }

  /** Whether the annotation is on the method, or on one that it overrides. */
  boolean isLocked(Method method, Class<?> targetClass) {
    return annotation(AopUtils.getMostSpecificMethod(method, targetClass)) != null;
  }

  /** Whether it is locked, and its work is done by subscriptions. */
  boolean isLockedPublisher(Method method, Class<?> targetClass) {
    Method called = AopUtils.getMostSpecificMethod(method, targetClass);
    return annotation(called) != null && LockedMethodParser.isPublisher(called, targetClass);
  }

  static @Nullable Locked annotation(Method method) {
    return AnnotatedElementUtils.findMergedAnnotation(method, Locked.class);
  }

  /**
   * The plan of a method's calls.
   *
   * @throws InvalidLockedMethodException if it cannot work
   */
  LockedMethod of(Method method, Class<?> targetClass) {
    MethodClassKey key = new MethodClassKey(method, targetClass);
    LockedMethod present = parsed.get(key);
    if (present != null) {
      return present;
    }
    // Outside of the map's locks: the client's bean may have to be created.
    LockedMethod made =
        parser.parse(AopUtils.getMostSpecificMethod(method, targetClass), targetClass);
    LockedMethod first = parsed.putIfAbsent(key, made);
    return first == null ? made : first;
  }

  /** Has a bean destroyed before the clients that its locked methods use. */
  void destroyBeforeClient(String bean, Set<Method> locked) {
    for (Method method : locked) {
      Locked annotation = annotation(method);
      if (annotation != null) {
        parser.destroyBeforeClient(bean, annotation.client());
      }
    }
  }
}
