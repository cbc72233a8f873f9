package io.mortise.function;

/**
 * A task without a result.
 *
 * @param <X> its exception; inferred as {@link RuntimeException} for a task that declares nothing
 */
@FunctionalInterface
public interface CheckedRunnable<X extends Exception> {
  /** Runs the task. */
  void run() throws X;
}
