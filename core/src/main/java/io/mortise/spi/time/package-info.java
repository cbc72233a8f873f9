/**
 * Sources of time for a store: a {@link io.mortise.spi.time.Ticker} for deadlines, a {@link
 * io.mortise.spi.time.WallClock} for times that people read, and durations as text.
 */
@NullMarked
package io.mortise.spi.time;

import org.jspecify.annotations.NullMarked;
