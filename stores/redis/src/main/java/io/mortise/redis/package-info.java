/** The Redis store: one public factory, the rest package-private. */
@NullMarked
package io.mortise.redis;

import org.jspecify.annotations.NullMarked;
