/**
 * Redis by Lettuce: {@link io.mortise.redis.lettuce.LettuceStore} opens a store over an existing
 * client, {@link io.mortise.redis.lettuce.LettuceFence} guards data that it writes, and store URLs
 * with {@code wire=lettuce} are served by {@code LettuceTransportProvider}.
 */
@NullMarked
package io.mortise.redis.lettuce;

import org.jspecify.annotations.NullMarked;
