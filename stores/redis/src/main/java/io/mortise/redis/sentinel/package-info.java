/**
 * Sentinels: the current master, and notifications of a new one. Start at {@link
 * io.mortise.redis.sentinel.SentinelResolver}.
 */
@NullMarked
package io.mortise.redis.sentinel;

import org.jspecify.annotations.NullMarked;
