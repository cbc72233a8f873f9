package io.mortise.testkit.history;

import io.mortise.annotation.Beta;
import io.mortise.spi.Mode;

/**
 * One hold of a lock, as {@link HoldChecks} look at it. All times are of one clock.
 *
 * @param holder the owner, which findings name
 * @param mode its share of the lock
 * @param asked the time of the call of its acquire
 * @param from the time from which its holder certainly believed to hold
 * @param until the end of that belief, exclusive
 * @param token its fencing token, 0 if it has none
 */
@Beta
public record CheckedHold<T>(T holder, Mode mode, long asked, long from, long until, long token) {}
