package io.mortise.console.observer;

import java.time.Duration;

/**
 * The store's time that observation has taken.
 *
 * @param share of the last minute, by the estimated work of the store
 * @param looks since the start
 * @param time that they took, including waits for a silent store
 * @param putOff the delay of the next look, as earlier ones have used up the share
 */
public record LookCost(double share, long looks, Duration time, Duration putOff) {}
