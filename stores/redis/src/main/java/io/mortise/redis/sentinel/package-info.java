/**
 * Sentinels: who is the master, and the news that it is another one. Start at {@link
 * io.mortise.redis.sentinel.SentinelResolver}.
 */
@NullMarked
package io.mortise.redis.sentinel;

import org.jspecify.annotations.NullMarked;
