/**
 * The keys and texts that Mortise keeps in Redis, as the head of {@code lock.lua} defines them:
 * start at {@link io.mortise.redis.codec.LockCodec}.
 */
@NullMarked
package io.mortise.redis.codec;

import org.jspecify.annotations.NullMarked;
