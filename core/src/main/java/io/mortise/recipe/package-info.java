/**
 * Latches and barriers, as {@link io.mortise.recipe.DistributedLatch} and {@link
 * io.mortise.recipe.DistributedBarrier} describe them. A lock client makes them.
 */
@NullMarked
package io.mortise.recipe;

import org.jspecify.annotations.NullMarked;
