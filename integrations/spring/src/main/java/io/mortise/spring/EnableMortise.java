package io.mortise.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.context.annotation.Import;

/**
 * Enables {@link Locked} on the beans of this context, which needs a bean of type {@link
 * io.mortise.LockClient}. When the context starts, all such methods are checked.
 *
 * <p>It reads two properties of the environment. {@code mortise.locked.wait} is the wait of methods
 * without one of their own, by default {@code 30s}. {@code mortise.locked.order} is the order among
 * other advice, by default {@code Ordered.LOWEST_PRECEDENCE - 100}, which is outside of
 * {@code @Transactional}.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Import({LockedConfiguration.ProxyCreatorRegistrar.class, LockedConfiguration.class})
public @interface EnableMortise {
  /**
   * Whether beans with interfaces are proxied by subclasses, too; for all advice of the context.
   */
  boolean proxyTargetClass() default false;
}
