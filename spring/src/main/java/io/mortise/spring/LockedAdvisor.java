package io.mortise.spring;

import java.lang.reflect.Method;
import org.springframework.aop.ClassFilter;
import org.springframework.aop.Pointcut;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotationUtils;

/** Which methods run under a lock, and where this stands among other advice. */
final class LockedAdvisor extends DefaultPointcutAdvisor {
  private static final long serialVersionUID = 1L;

  /**
   * Before the advice of {@code @Transactional}, which stands last unless told otherwise, with room
   * in between. Equal order would leave it to the registration of beans.
   */
  static final int OUTSIDE_OF_TRANSACTIONS = Ordered.LOWEST_PRECEDENCE - 100;

  LockedAdvisor(LockedMethods methods, int order) {
    super(pointcut(methods), new LockedInterceptor(methods));
    setOrder(order);
  }

  private static Pointcut pointcut(LockedMethods methods) {
    StaticMethodMatcherPointcut pointcut =
        new StaticMethodMatcherPointcut() {
          @Override
          public boolean matches(Method method, Class<?> targetClass) {
            return methods.isLocked(method, targetClass);
          }
        };
    ClassFilter candidates = type -> AnnotationUtils.isCandidateClass(type, Locked.class);
    pointcut.setClassFilter(candidates);
    return pointcut;
  }
}
