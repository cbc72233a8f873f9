package io.mortise.recipe.engine;

import io.mortise.DistributedLock;
import io.mortise.internal.recipe.ClientRecipes;
import io.mortise.internal.recipe.RecipeProvider;
import io.mortise.internal.runtime.EngineEnv;
import io.mortise.spi.LockStore;
import java.util.function.Function;

/** Recipes on the locks and the small documents of a store. */
public final class EngineRecipeProvider implements RecipeProvider {
  @Override
  public ClientRecipes open(
      LockStore store,
      EngineEnv env,
      Runnable refuseIfClosed,
      Function<String, DistributedLock> locks) {
    return new Recipes(store, env, refuseIfClosed, locks);
  }
}
