package io.mortise.curator;

import io.mortise.LockName;
import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.testkit.StoreUnderTest;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The layout of one of the recipes, on the server of the JVM; each with a base path. */
final class CuratorUnderTest implements StoreUnderTest {
  private static final AtomicInteger BASES = new AtomicInteger();

  private String base = "";
  private final Recipe recipe;
  private @Nullable LockStore store;

  CuratorUnderTest(Recipe recipe) {
    this.recipe = recipe;
  }

  @Override
  public LockStore open() {
    base = "/contract" + BASES.incrementAndGet();
    return reopen();
  }

  private LockStore reopen() {
    return CuratorStore.open(
        "zk+curator://"
            + MixedFleet.server().address()
            + "?tick=100ms&recipe="
            + (recipe == Recipe.MUTEX ? "mutex" : "readwrite")
            + "&base="
            + base);
  }

  @Override
  public boolean listsSessions() {
    return false;
  }

  @Override
  public Set<Capability> capabilities() {
    Set<Capability> both =
        EnumSet.of(
            Capability.SESSION,
            Capability.QUEUE,
            Capability.PERMITS,
            Capability.TOKEN,
            Capability.PUSH,
            Capability.FACTS);
    if (recipe == Recipe.READ_WRITE) {
      both.add(Capability.SHARED);
      both.add(Capability.DOWNGRADE);
    }
    return both;
  }

  @Override
  public boolean takes(LockName name) {
    return LockPaths.refusal(name) == null;
  }

  @Override
  public Duration shortTtl() {
    return Duration.ofMillis(400);
  }

  @Override
  public Optional<LockStore> restart(LockStore before) {
    before.close();
    MixedFleet.server().restart();
    store = reopen();
    return Optional.of(store);
  }

  @Override
  public void close() {
    if (store != null) {
      store.close();
    }
  }
}
