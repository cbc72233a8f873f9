package io.mortise.recipe.engine;

import io.mortise.LockName;
import io.mortise.recipe.DistributedBarrier;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** A barrier for users; {@link BarrierEntry} and {@link EnginePassage} do the work. */
final class EngineBarrier implements DistributedBarrier {
  /** The rest of a lock's name identifies the party. */
  private static final int LONGEST_NAME = 450;

  private final Recipes recipes;
  private final String name;
  private final int parties;

  EngineBarrier(Recipes recipes, String name, int parties) {
    if (LockName.of(name).value().getBytes(StandardCharsets.UTF_8).length > LONGEST_NAME) {
      throw new IllegalArgumentException(
          "Barrier name '%s…' is longer than %s bytes of UTF-8. Shorten it, or hash its tail."
              .formatted(name.substring(0, 32), LONGEST_NAME));
    }
    this.recipes = recipes;
    this.name = name;
    this.parties = parties;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public int parties() {
    return parties;
  }

  @Override
  public long await() throws InterruptedException {
    return passed(enter());
  }

  @Override
  public long await(Duration wait) throws InterruptedException {
    return passed(enter(wait));
  }

  @Override
  public CompletableFuture<Long> awaitAsync() {
    return Recipes.mapped(enterAsync(), EngineBarrier::passed);
  }

  @Override
  public CompletableFuture<Long> awaitAsync(Duration wait) {
    return Recipes.mapped(enterAsync(wait), EngineBarrier::passed);
  }

  private static long passed(Passage passage) {
    passage.close();
    return passage.generation();
  }

  @Override
  public Passage enter() throws InterruptedException {
    Recipes.refuseIfInterrupted("entering barrier '" + name + "'");
    return entry(BarrierEntry.ENDLESS).enter();
  }

  @Override
  public Passage enter(Duration wait) throws InterruptedException {
    long waitNanos = Recipes.checkedWait(wait);
    Recipes.refuseIfInterrupted("entering barrier '" + name + "'");
    return entry(waitNanos).enter();
  }

  @Override
  public CompletableFuture<Passage> enterAsync() {
    return entry(BarrierEntry.ENDLESS).begin();
  }

  @Override
  public CompletableFuture<Passage> enterAsync(Duration wait) {
    return entry(Recipes.checkedWait(wait)).begin();
  }

  private BarrierEntry entry(long waitNanos) {
    return new BarrierEntry(recipes, name, parties, waitNanos);
  }

  @Override
  public String toString() {
    return "DistributedBarrier[%s, %s parties, %s]".formatted(name, parties, recipes.display());
  }
}
