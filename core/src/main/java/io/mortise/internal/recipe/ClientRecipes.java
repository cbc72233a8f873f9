package io.mortise.internal.recipe;

import io.mortise.DistributedOnce;
import io.mortise.recipe.DistributedBarrier;
import io.mortise.recipe.DistributedLatch;

/** The recipes of one client. Thread-safe. */
public interface ClientRecipes {
  /** Work that is done once under the key. */
  DistributedOnce once(String key);

  /** A latch for so many parties. */
  DistributedLatch latch(String name, int parties);

  /** A barrier of so many parties. */
  DistributedBarrier barrier(String name, int parties);

  /** Ends the waits that are left. */
  void close();
}
