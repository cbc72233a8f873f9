package io.mortise.testkit;

import io.mortise.spi.time.Ticker;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** Time that moves by hand. Thread-safe. */
public final class ManualTime implements Ticker {
  private final AtomicLong nanos = new AtomicLong();

  /** Begins at zero. */
  public ManualTime() {}

  @Override
  public long nanos() {
    return nanos.get();
  }

  /**
   * Moves the time forward.
   *
   * @throws IllegalArgumentException if the time is negative: monotonic time does not go back
   */
  public void advance(Duration time) {
    if (time.isNegative()) {
      throw new IllegalArgumentException("Monotonic time cannot go back by " + time + ".");
    }
    nanos.addAndGet(time.toNanos());
  }
}
