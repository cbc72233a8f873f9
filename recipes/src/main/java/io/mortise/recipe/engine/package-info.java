/**
 * Once, latch and barrier: pure steps on small documents of the store ({@code …Document}), and what
 * repeats and waits around them. Start at {@link io.mortise.recipe.engine.Recipes}.
 */
@NullMarked
package io.mortise.recipe.engine;

import org.jspecify.annotations.NullMarked;
