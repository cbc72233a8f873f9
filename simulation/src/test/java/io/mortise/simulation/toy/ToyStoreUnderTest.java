package io.mortise.simulation.toy;

import io.mortise.LockName;
import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.SessionId;
import io.mortise.testkit.StoreUnderTest;
import java.util.Set;

/** Opens the toy store for the contract suites. */
final class ToyStoreUnderTest implements StoreUnderTest {
  private ToyDocuments<LockName, ToyLockDocument> locks =
      new ToyDocuments<>(ToyLockDocument.ABSENT);
  private ToyDocuments<SessionId, ToySessionDocument> sessions =
      new ToyDocuments<>(ToySessionDocument.ABSENT);

  @Override
  public LockStore open() {
    locks = new ToyDocuments<>(ToyLockDocument.ABSENT);
    sessions = new ToyDocuments<>(ToySessionDocument.ABSENT);
    return another();
  }

  @Override
  public LockStore another() {
    return new ToyStore(locks, sessions, () -> System.currentTimeMillis() * 1000);
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
