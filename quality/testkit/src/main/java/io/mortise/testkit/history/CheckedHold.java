package io.mortise.testkit.history;

import io.mortise.annotation.Beta;
import io.mortise.spi.Mode;

/**
 * One hold of a lock, as {@link HoldChecks} look at it. All times are of one clock.
 *
 * @param holder whose it is; what the checks name
 * @param mode how much of the lock it takes
 * @param asked when its acquire was called
 * @param from from when on its holder believed to hold for certain
 * @param until until when; the end is not part of it
 * @param token its fencing token, 0 if it has none
 */
@Beta
public record CheckedHold<T>(T holder, Mode mode, long asked, long from, long until, long token) {}
