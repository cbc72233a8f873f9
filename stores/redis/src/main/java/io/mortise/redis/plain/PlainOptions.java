package io.mortise.redis.plain;

import java.time.Duration;

/**
 * How to use a Redis for plain locks.
 *
 * @param layout form in which a lock is written
 * @param prefix stands before the lock's name in its key; may be empty
 * @param timeout how long an answer may take
 */
public record PlainOptions(KeyLayout layout, String prefix, Duration timeout) {}
