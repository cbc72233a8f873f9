package io.mortise.function;

/**
 * A task with an argument and without a result.
 *
 * @param <A> its argument
 * @param <X> its exception; inferred as {@link RuntimeException} for a task that declares nothing
 */
@FunctionalInterface
public interface CheckedConsumer<A, X extends Exception> {
  /** Runs the task. */
  void accept(A given) throws X;
}
