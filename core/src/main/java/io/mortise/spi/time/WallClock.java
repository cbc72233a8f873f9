package io.mortise.spi.time;

import java.time.InstantSource;

/**
 * The time of day, for ages that people read and for the start of a store's own clock. Never for
 * deadlines: a {@link Ticker} measures those.
 */
public final class WallClock {
  /** The host's own clock. The library reads the time of day through this only. */
  public static final InstantSource SYSTEM = InstantSource.system();

  private WallClock() {}
}
