/**
 * How commands travel to a Redis server and back. {@link io.mortise.redis.wire.RedisWire} is what
 * the store needs; {@link io.mortise.redis.wire.DirectWire} is made of a socket and a thread,
 * {@link io.mortise.redis.wire.LettuceWire} of somebody's client. Not exported.
 */
@NullMarked
package io.mortise.redis.wire;

import org.jspecify.annotations.NullMarked;
