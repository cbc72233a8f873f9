/**
 * Locks for Spring: methods that run under a lock by {@code @Locked}, and their view of it by
 * {@code LockContext}. Start reading at {@code Locked}; {@code LockedInterceptor} is a call of such
 * a method, {@code HeldLocks} its locks.
 */
@NullMarked
package io.mortise.spring;

import org.jspecify.annotations.NullMarked;
