package io.mortise.console.observer;

import java.time.Duration;

/**
 * What looking has taken of the store's time.
 *
 * @param share of the last minute, as far as the store is taken to have worked
 * @param looks since the start
 * @param time that they took, with that of waiting for a store that stood still
 * @param putOff for how long the next look is put off, since those before have taken the share
 */
public record LookCost(double share, long looks, Duration time, Duration putOff) {}
