package io.mortise.testkit.history;

import io.mortise.annotation.Beta;

/**
 * One wait for a lock, as {@link HoldChecks} look at it. All times are of one clock, and {@code
 * Long.MAX_VALUE} is never.
 *
 * @param waiter whose it is; what the checks name
 * @param asked when its acquire was called
 * @param queued when it stood in the queue for certain; never if nobody may be blamed for passing
 *     it
 * @param over when it was granted, or waited no longer
 * @param granted whether it was granted
 * @param token its fencing token, 0 if it has none or was not granted
 */
@Beta
public record CheckedWait<T>(
    T waiter, long asked, long queued, long over, boolean granted, long token) {}
