/**
 * How commands travel to a Redis server and back. {@link io.mortise.redis.transport.RedisTransport}
 * is the store's view of it; {@link io.mortise.redis.transport.DirectTransport} is made of a socket
 * and a thread. Client libraries plug in by a {@link io.mortise.redis.transport.TransportProvider},
 * each in an artifact of its own, to which alone this package is exported.
 */
@NullMarked
package io.mortise.redis.transport;

import org.jspecify.annotations.NullMarked;
