package io.mortise.internal.session;

import java.time.Duration;
import java.util.List;

/**
 * A renewal on its way, and what the clocks showed before it left.
 *
 * @param at the local time at which it was sent
 * @param suspended how long the host had slept by then, in nanoseconds
 * @param beat what the store compares
 * @param ttl how long the session lives by it
 * @param seen the notifications that it confirms
 */
record InFlightRenewal(long at, long suspended, long beat, Duration ttl, List<Long> seen) {}
