/**
 * Once, latch and barrier, which a lock client finds by name. Exports nothing; start reading at
 * {@code io.mortise.recipe.engine.Recipes}.
 */
module io.mortise.recipes {
  requires transitive io.mortise.core;
  requires static transitive org.jspecify;

  provides io.mortise.internal.recipe.RecipeProvider with
      io.mortise.recipe.engine.EngineRecipeProvider;
}
