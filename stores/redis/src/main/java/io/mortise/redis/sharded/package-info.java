/**
 * Locks spread over independent Redis servers, each name on one of them: {@link
 * io.mortise.redis.sharded.ShardedStore}. Not exported.
 */
@NullMarked
package io.mortise.redis.sharded;

import org.jspecify.annotations.NullMarked;
