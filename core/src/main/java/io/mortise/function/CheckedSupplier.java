package io.mortise.function;

import org.jspecify.annotations.Nullable;

/**
 * A task with a result.
 *
 * @param <T> its result
 * @param <X> its exception; inferred as {@link RuntimeException} for a task that declares nothing
 */
@FunctionalInterface
public interface CheckedSupplier<T extends @Nullable Object, X extends Exception> {
  /** Runs the task. */
  T get() throws X;
}
