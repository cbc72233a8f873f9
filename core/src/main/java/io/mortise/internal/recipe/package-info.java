/**
 * What the client asks the artifact of recipes for: {@link
 * io.mortise.internal.recipe.RecipeProvider}.
 */
@NullMarked
package io.mortise.internal.recipe;

import org.jspecify.annotations.NullMarked;
