package io.mortise.nats;

import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.StoreUnderTest;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One server serves all tests of the JVM; each has a namespace of its own. A session ends when it
 * was seen to stand still, so the store looks at all that stands before time passes.
 */
final class NatsUnderTest implements StoreUnderTest {
  private static final int ALL = 10_000;

  private final String namespace = NatsServers.namespace();
  private @Nullable LockStore store;

  @Override
  public LockStore open() {
    LockStore opened = another();
    store = opened;
    return opened;
  }

  @Override
  public Set<Capability> capabilities() {
    return EnumSet.complementOf(
        EnumSet.of(
            Capability.SKIPS_DISCONNECTED,
            Capability.CALL_BACK,
            Capability.FACTS,
            Capability.AT_MOST,
            Capability.AT_LEAST));
  }

  @Override
  public LockStore another() {
    return NatsStore.open(NatsServers.shared().url() + "?namespace=" + namespace + "&timeout=10s");
  }

  /** Each pause begins with a sweep, which takes as long as the server likes. */
  @Override
  public Duration shortTtl() {
    return Duration.ofMillis(1500);
  }

  @Override
  public void pass(Duration duration) {
    if (store != null) {
      BoundedWait.join(store.sweep(ALL));
    }
    BoundedWait.pass(duration);
  }

  @Override
  public Optional<LockStore> restart(LockStore before) {
    before.close();
    NatsServers.shared().restart();
    return Optional.of(open());
  }

  @Override
  public void close() {
    if (store != null) {
      store.close();
    }
  }
}
