/**
 * Once, latch and barrier: pure steps on small documents of the store ({@code …Document}), and the
 * code that repeats and waits around them. Start at {@link io.mortise.internal.recipe.Recipes}.
 */
@NullMarked
package io.mortise.internal.recipe;

import org.jspecify.annotations.NullMarked;
