package io.mortise.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.aot.hint.annotation.Reflective;

/**
 * Runs the method under one or more distributed locks: they are acquired before it, renewed while
 * it runs, and released after it. Applies to Spring beans, by {@link EnableMortise}; a call of a
 * bean to itself is not locked, as with every annotation of that kind. {@link LockContext} gives
 * the method its fencing token.
 *
 * <p><b>Order.</b> The lock is taken on the thread that runs the method: inside {@code @Async} and
 * {@code @Scheduled}, and around a {@code @Transactional} of the same method, so that it is
 * released after the commit. If the caller has a transaction already, {@link #until()} decides.
 *
 * <p><b>Nested calls.</b> If its thread holds the lock already, by an outer such call or until the
 * end of its transaction, a method joins that hold: it neither waits nor acquires, and its times
 * are not applied. A thread that holds a lock shared and requests it exclusively is refused with
 * {@link IllegalStateException}. Asynchronous methods never join.
 *
 * <p><b>Results.</b> Methods that return a {@code CompletionStage}, or a type that {@code
 * ReactiveAdapterRegistry} knows, such as {@code Mono} and {@code Flux}, block no thread: the lock
 * is held until the stage completes, or from each subscription to its end. A body that returns a
 * stage runs on a thread of Mortise, or on the caller's if the grant has arrived already; on that
 * of its executor if it is {@code @Async}. A caller that completes such a stage while it waits for
 * the lock, by {@code cancel} or {@code orTimeout}, gives the wait up. For other results the lock
 * is held until the method returns. Types whose work is done after the return ({@code Future},
 * {@code Callable}, {@code Supplier}, streams) are refused, also as type arguments: {@code
 * ResponseEntity<Mono<T>>}. For Kotlin's suspend functions it is held until they end; they need
 * {@code kotlinx-coroutines-reactor} and {@code kotlin-reflect}, and are refused without them.
 *
 * <p><b>Cancellation.</b> A subscription that is cancelled releases the lock at once, but not
 * before a {@code @Transactional} of the same method has committed or rolled back.
 *
 * <p><b>Exceptions</b> of the call, besides those of the method:
 *
 * <ul>
 *   <li>{@link io.mortise.LockTimeoutException} if the lock could not be acquired in time; the
 *       method has not run
 *   <li>{@link io.mortise.StoreUnavailableException} if the store did not answer; the method has
 *       not run, also with {@link IfBusy#SKIP}
 *   <li>{@link io.mortise.LeaseLostException} if the lock was lost before the method ended: its
 *       work may overlap with the next holder's. The method's own exception is suppressed, or the
 *       other way round without {@link #interrupt()}
 *   <li>{@link IllegalArgumentException} if a name has a null, blank or unusable part, or is no
 *       lock name
 *   <li>{@link InterruptedException} if the thread is interrupted while it waits and the method
 *       declares it; otherwise {@link io.mortise.LockException}, and the thread's flag stays set
 * </ul>
 *
 * <p>Methods that cannot work are refused when the context starts, by {@link
 * InvalidLockedMethodException}.
 *
 * <p>Lombok has a {@code @Locked} of its own, a lock of one JVM. It takes no text, and this one
 * requires it: a wrong import does not compile.
 */
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Reflective
public @interface Locked {
  /**
   * The lock's name: text with <code>${property}</code> and <code>#{expression}</code> parts, such
   * as <code>"invoice/#{#id}"</code>. An expression is SpEL over the method's parameters ({@code
   * #id}, or {@code #p0}) and beans ({@code @tenants.current()}); its value must have a text of its
   * own. Several names are acquired together, all or none, in the order of the names' bytes; equal
   * ones count once.
   */
  String[] value();

  /** Whether others may hold the lock at the same time. Several names are exclusive only. */
  LockMode mode() default LockMode.EXCLUSIVE;

  /**
   * How long to wait for the lock, such as {@code "5s"} or {@code "1m30s"}; {@code "0"} tries once,
   * {@code "forever"} has no limit. Empty: the property {@code mortise.locked.wait}, 30 seconds
   * unless set. <code>${property}</code> is allowed here and in the other times.
   */
  String waitFor() default "";

  /** The behaviour if the lock could not be acquired in time. */
  IfBusy ifBusy() default IfBusy.THROW;

  /**
   * The store frees the lock no later than this after the grant, renewed or not. Empty for no such
   * limit. For one name only.
   */
  String atMost() default "";

  /**
   * The store keeps the lock shut until this after the grant, also when the method is done early:
   * for {@code @Scheduled} methods, longer than clocks of hosts differ. Empty for none. For one
   * name only.
   */
  String atLeast() default "";

  /**
   * Strictly first come, first served: see {@link io.mortise.LockOptions#fair()}. One name only.
   */
  boolean fair() default false;

  /**
   * How long the process keeps the lock idle after the method, such as {@code "5s"}, 10 seconds at
   * most, so that its next call takes it without a round trip; another process that wants it gets
   * it at once. Empty for not at all. See {@link io.mortise.LockOptions#withSticky}. For one name
   * only, exclusive, not fair, without at-most and at-least times.
   */
  String sticky() default "";

  /**
   * Whether the thread is interrupted if the lock is lost while the method runs, and whether a
   * subscription is cancelled then. A {@code CompletionStage} cannot be interrupted: its result is
   * the loss, as soon as it has completed.
   */
  boolean interrupt() default true;

  /** Until when the lock is held if the caller has a transaction already. */
  Until until() default Until.COMMIT;

  /** The bean name of the {@link io.mortise.LockClient}; empty for the only or primary one. */
  String client() default "";

  /** The sharing of the lock. */
  enum LockMode {
    /** No other holder. */
    EXCLUSIVE,
    /** Other shared holders: the read side of {@link io.mortise.DistributedReadWriteLock}. */
    SHARED
  }

  /** The behaviour if the lock could not be acquired in time. */
  enum IfBusy {
    /** Throws {@link io.mortise.LockTimeoutException}. */
    THROW,
    /**
     * Skips the method, and the call returns nothing: an empty {@code Optional}, an empty
     * publisher, otherwise null. Methods that return a primitive are refused.
     */
    SKIP
  }

  /** Until when the lock is held if the caller has a transaction already. */
  enum Until {
    /**
     * The end of that transaction, commit or rollback, so that the next holder sees its writes. If
     * the lock is lost before, the commit fails with {@link io.mortise.LeaseLostException} and the
     * transaction is rolled back. Without such a transaction, the same as {@link #RETURN}.
     */
    COMMIT,
    /** The method's return. The next holder may read data from before the commit. */
    RETURN
  }
}
