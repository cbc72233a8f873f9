package io.mortise.testkit.history;

import io.mortise.annotation.Beta;

/**
 * One wait for a lock, as {@link HoldChecks} look at it. All times are of one clock, and {@code
 * Long.MAX_VALUE} is never.
 *
 * @param waiter the owner, which findings name
 * @param asked the time of the call of its acquire
 * @param queued the time at which it certainly stood in the queue; never if others may pass it
 * @param over the time of its grant, or of the end of its wait
 * @param granted whether it was granted
 * @param token its fencing token, 0 if it has none or was not granted
 */
@Beta
public record CheckedWait<T>(
    T waiter, long asked, long queued, long over, boolean granted, long token) {}
