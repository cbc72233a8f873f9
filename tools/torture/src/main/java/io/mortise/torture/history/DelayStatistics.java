package io.mortise.torture.history;

import java.util.Arrays;

/** Statistics of durations. For one thread. */
public final class DelayStatistics {
  private long[] nanos = new long[64];
  private int count;
  private boolean sorted;

  void add(long took) {
    if (count == nanos.length) {
      nanos = Arrays.copyOf(nanos, 2 * count);
    }
    nanos[count++] = took;
    sorted = false;
  }

  /** The number of durations. */
  public int count() {
    return count;
  }

  /**
   * Returns the duration that {@code part} of a thousand do not exceed.
   *
   * @return nanoseconds; 0 if there was none
   */
  public long perMille(int part) {
    if (!sorted) {
      Arrays.sort(nanos, 0, count);
      sorted = true;
    }
    return count == 0 ? 0 : nanos[(int) Math.min(count - 1, (long) count * part / 1000)];
  }

  /** The longest duration; 0 if there was none. */
  public long most() {
    return perMille(1000);
  }
}
