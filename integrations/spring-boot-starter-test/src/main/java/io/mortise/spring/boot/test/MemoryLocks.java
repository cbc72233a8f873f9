package io.mortise.spring.boot.test;

import io.mortise.spring.boot.MortiseAutoConfiguration;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;

/**
 * On a test class: keeps the application's locks in memory, in spite of its properties and beans.
 * Each application context has a store of its own, so that tests do not see each other's locks.
 * Also for test slices, such as {@code @DataJdbcTest}, in which {@code @Locked} has no effect
 * without it.
 *
 * <p>An application that has a {@code LockClient} or {@code Store} bean of its own keeps it:
 * replace it in the test. Code that only uses the token can be tested without Spring by {@code
 * LockContext.testing(token)}.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ImportAutoConfiguration({MemoryLocksConfiguration.class, MortiseAutoConfiguration.class})
public @interface MemoryLocks {}
