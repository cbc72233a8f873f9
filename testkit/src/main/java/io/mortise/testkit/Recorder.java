package io.mortise.testkit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Keeps what it is given, in order. Thread-safe. */
public final class Recorder<T> implements Consumer<T> {
  private final List<T> items = new ArrayList<>();

  /** Empty. */
  public Recorder() {}

  @Override
  public synchronized void accept(T item) {
    items.add(item);
    notifyAll();
  }

  /** A copy of all so far. */
  public synchronized List<T> all() {
    return List.copyOf(items);
  }

  /**
   * Waits for so many items and returns all there are. Blocks.
   *
   * @throws AssertionError if there are fewer within {@link Waits#ANSWER}
   */
  public List<T> await(int count) {
    return await(count, Waits.ANSWER);
  }

  /**
   * As {@link #await(int)} with a bound.
   *
   * @throws AssertionError if there are fewer within the bound
   */
  public synchronized List<T> await(int count, Duration bound) {
    Duration scaled = Waits.scaled(bound);
    long end = System.nanoTime() + scaled.toNanos();
    // Woken at once: a suite asks thousands of times.
    for (long left = scaled.toNanos(); items.size() < count; left = end - System.nanoTime()) {
      if (left <= 0) {
        throw new AssertionError(
            "Within " + scaled + " not " + count + " items arrived, only " + items + ".");
      }
      try {
        TimeUnit.NANOSECONDS.timedWait(this, left);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new AssertionError("Interrupted while waiting for items.", e);
      }
    }
    return all();
  }
}
