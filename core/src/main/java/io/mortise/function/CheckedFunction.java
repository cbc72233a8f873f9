package io.mortise.function;

import org.jspecify.annotations.Nullable;

/**
 * A task with an argument and a result.
 *
 * @param <A> its argument
 * @param <T> its result
 * @param <X> its exception; inferred as {@link RuntimeException} for a task that declares nothing
 */
@FunctionalInterface
public interface CheckedFunction<A, T extends @Nullable Object, X extends Exception> {
  /** Runs the task. */
  T apply(A given) throws X;
}
