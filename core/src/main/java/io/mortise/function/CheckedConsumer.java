package io.mortise.function;

/**
 * A task that is given something and has no result.
 *
 * @param <A> what it is given
 * @param <X> what it throws; inferred as {@link RuntimeException} for a task that declares nothing
 */
@FunctionalInterface
public interface CheckedConsumer<A, X extends Exception> {
  /** Runs the task. */
  void accept(A given) throws X;
}
