package io.mortise.testkit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Records its arguments, in order. Thread-safe. */
public final class RecordingConsumer<T> implements Consumer<T> {
  private final List<T> items = new ArrayList<>();

  /** Empty. */
  public RecordingConsumer() {}

  @Override
  public synchronized void accept(T item) {
    items.add(item);
  }

  /** Returns a copy of all items so far. */
  public synchronized List<T> all() {
    return List.copyOf(items);
  }

  /**
   * Waits for so many items and returns all so far. Blocks.
   *
   * @throws AssertionError if there are fewer within {@link BoundedWait#ANSWER}
   */
  public List<T> await(int count) {
    return await(count, BoundedWait.ANSWER);
  }

  /**
   * As {@link #await(int)} with a bound.
   *
   * @throws AssertionError if there are fewer within the bound
   */
  public List<T> await(int count, Duration bound) {
    // Polls every few milliseconds: effects of an answer may still be in flight.
    BoundedWait.until(bound, count + " items arrived, only " + all(), () -> all().size() >= count);
    return all();
  }
}
