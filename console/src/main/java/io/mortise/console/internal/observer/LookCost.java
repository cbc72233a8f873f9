package io.mortise.console.internal.observer;

import java.time.Duration;

/**
 * What looking has taken of the store's time.
 *
 * @param share of the last minute
 * @param looks since the start
 * @param time that they took
 */
public record LookCost(double share, long looks, Duration time) {}
