package io.mortise.support.internal.session;

import io.mortise.spi.AttemptId;
import io.mortise.spi.time.Ticker;
import io.mortise.support.liveness.BeatMonitor;
import java.time.Duration;

/**
 * The at-least times that this process knows of, for a server without a clock: such a time is over
 * when this process has known of it for as long. Thread-safe.
 *
 * <p>An at-least time belongs to an attempt and a start of it, and keeps both when the hold ends.
 * Other changes of the lock's record do not restart it, and an observer that has seen the hold goes
 * on counting. If an earlier start is met again, in a remembered document, the count of the last
 * goes on.
 */
public final class AtLeastMonitor {
  private static final Duration TAKEN_BACK = Duration.ofMillis(1);

  private final BeatMonitor<AttemptId> starts;

  /** A monitor that knows of no time. */
  public AtLeastMonitor(Ticker ticker) {
    this.starts = BeatMonitor.ofRising(ticker);
  }

  /**
   * Records an at-least time that was read, or whose start was written, just now.
   *
   * @param start counts how often the time was started
   * @return how long it goes on; zero for a millisecond, which takes a time back. A process that
   *     meets the lock once would find it shut
   */
  public Duration left(AttemptId hold, long start, Duration length) {
    Duration left = starts.left(hold, start, length);
    return length.compareTo(TAKEN_BACK) <= 0 ? Duration.ZERO : left;
  }
}
