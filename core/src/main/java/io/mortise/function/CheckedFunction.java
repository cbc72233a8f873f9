package io.mortise.function;

import org.jspecify.annotations.Nullable;

/**
 * A task that is given something and has a result.
 *
 * @param <A> what it is given
 * @param <T> its result
 * @param <X> what it throws; inferred as {@link RuntimeException} for a task that declares nothing
 */
@FunctionalInterface
public interface CheckedFunction<A, T extends @Nullable Object, X extends Exception> {
  /** Runs the task. */
  T apply(A given) throws X;
}
