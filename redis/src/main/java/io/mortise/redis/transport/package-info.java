/**
 * How commands travel to a Redis server and back. {@link io.mortise.redis.transport.RedisTransport}
 * is what the store needs; {@link io.mortise.redis.transport.DirectTransport} is made of a socket
 * and a thread, {@link io.mortise.redis.transport.LettuceTransport} of somebody's client. Not
 * exported.
 */
@NullMarked
package io.mortise.redis.transport;

import org.jspecify.annotations.NullMarked;
