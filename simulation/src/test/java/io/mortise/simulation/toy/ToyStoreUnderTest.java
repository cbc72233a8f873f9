package io.mortise.simulation.toy;

import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.time.WallClock;
import io.mortise.testkit.StoreUnderTest;
import java.util.Set;

/** Opens the toy store for the contract suites. */
final class ToyStoreUnderTest implements StoreUnderTest {
  @Override
  public LockStore open() {
    return new ToyStore(
        new ToyDocuments<>(ToyLockDocument.ABSENT),
        new ToyDocuments<>(ToySessionDocument.ABSENT),
        () -> WallClock.SYSTEM.millis() * 1000);
  }

  @Override
  public Set<Capability> capabilities() {
    return Set.of(
        Capability.SESSION,
        Capability.PROOF,
        Capability.RECORD,
        Capability.TOKEN,
        Capability.TOKEN_FLOOR);
  }
}
