/**
 * Efficiency locks in memcached: an item with an expiry for each lock, and nothing else. Start
 * reading at {@link io.mortise.memcached.MemcachedStore}, then at {@code MemcachedKeys}; {@code
 * MetaTransport} speaks to a server.
 */
@NullMarked
package io.mortise.memcached;

import org.jspecify.annotations.NullMarked;
