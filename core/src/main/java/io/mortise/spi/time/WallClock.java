package io.mortise.spi.time;

import java.time.InstantSource;

/**
 * The time of day, for ages that people read and for where a store's own clock begins. Never for
 * deadlines: those are measured by a {@link Ticker}.
 */
public final class WallClock {
  /** The host's own. The library reads the time of day through this only. */
  public static final InstantSource SYSTEM = InstantSource.system();

  private WallClock() {}
}
