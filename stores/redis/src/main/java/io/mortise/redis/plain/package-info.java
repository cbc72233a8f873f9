/**
 * Locks as other clients and other languages keep them in Redis: one key with an expiry for each
 * lock. Start reading at {@link io.mortise.redis.plain.PlainStore}; the two layouts are in {@link
 * io.mortise.redis.plain.KeyLayout}. Not exported.
 */
@NullMarked
package io.mortise.redis.plain;

import org.jspecify.annotations.NullMarked;
