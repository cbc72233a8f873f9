package io.mortise.testkit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Keeps what it is given, in order. Thread-safe. */
public final class RecordingConsumer<T> implements Consumer<T> {
  private final List<T> items = new ArrayList<>();

  /** Empty. */
  public RecordingConsumer() {}

  @Override
  public synchronized void accept(T item) {
    items.add(item);
  }

  /** A copy of all so far. */
  public synchronized List<T> all() {
    return List.copyOf(items);
  }

  /**
   * Waits for so many items and returns all there are. Blocks.
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
    // Every few milliseconds: what an answer has set off elsewhere may still be on its way.
    BoundedWait.until(bound, count + " items arrived, only " + all(), () -> all().size() >= count);
    return all();
  }
}
