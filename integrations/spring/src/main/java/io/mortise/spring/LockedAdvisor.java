package io.mortise.spring;

import java.lang.reflect.Method;
import java.util.function.BiPredicate;
import org.aopalliance.intercept.MethodInterceptor;
import org.springframework.aop.ClassFilter;
import org.springframework.aop.Pointcut;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotationUtils;

/** Selects the methods that run under a lock, and orders this advice among others. */
final class LockedAdvisor extends DefaultPointcutAdvisor {
  private static final long serialVersionUID = 1L;

  /**
   * Before the advice of {@code @Transactional}, which is last by default, with room in between.
   * With equal order, the registration of beans would decide.
   */
  static final int OUTSIDE_OF_TRANSACTIONS = Ordered.LOWEST_PRECEDENCE - 100;

  private LockedAdvisor(
      BiPredicate<Method, Class<?>> matches, MethodInterceptor interceptor, int order) {
    super(pointcut(matches), interceptor);
    setOrder(order);
  }

  /** Acquires and releases the locks. */
  static LockedAdvisor outside(LockedMethods methods, int order) {
    return new LockedAdvisor(methods::isLocked, new LockedInterceptor(methods), order);
  }

  /**
   * Has a reactive transaction that begins inside the lock hold it until it has ended. It must be
   * the last advisor: registered after that of transactions, whose order it shares.
   */
  static LockedAdvisor inside(LockedMethods methods) {
    return new LockedAdvisor(
        methods::isLockedPublisher,
        LockedInterceptor.inTransaction(methods),
        Ordered.LOWEST_PRECEDENCE);
  }

  private static Pointcut pointcut(BiPredicate<Method, Class<?>> matches) {
    StaticMethodMatcherPointcut pointcut =
        new StaticMethodMatcherPointcut() {
          @Override
          public boolean matches(Method method, Class<?> targetClass) {
            return matches.test(method, targetClass);
          }
        };
    ClassFilter candidates = type -> AnnotationUtils.isCandidateClass(type, Locked.class);
    pointcut.setClassFilter(candidates);
    return pointcut;
  }
}
