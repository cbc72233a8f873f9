package io.mortise.internal.recipe;

import io.mortise.DistributedLock;
import io.mortise.internal.runtime.EngineEnv;
import io.mortise.spi.LockStore;
import java.util.ServiceLoader;
import java.util.function.Function;

/** Makes the recipes of a client; found through {@link ServiceLoader}. */
public interface RecipeProvider {
  /**
   * The provider of the library's class loader.
   *
   * @throws IllegalStateException if its artifact is missing
   */
  static RecipeProvider find() {
    return ServiceLoader.load(RecipeProvider.class, RecipeProvider.class.getClassLoader())
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalStateException(
                    "Once, latch and barrier have an artifact of their own. Add the artifact"
                        + " mortise-recipes to the class path."));
  }

  /**
   * The recipes of a client.
   *
   * @param refuseIfClosed throws {@link IllegalStateException} once the client is closed
   * @param locks the client's exclusive locks by name
   */
  ClientRecipes open(
      LockStore store,
      EngineEnv env,
      Runnable refuseIfClosed,
      Function<String, DistributedLock> locks);
}
