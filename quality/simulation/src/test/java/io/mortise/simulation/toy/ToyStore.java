package io.mortise.simulation.toy;

import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreProfile;
import io.mortise.support.document.DocumentStore;
import io.mortise.support.document.VersionedDocuments;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;

/** Opens locks in a map of documents, which has compare-and-set only. */
final class ToyStore {
  /** The map notifies watches at once. */
  private static final Set<Capability> CAPABILITIES = EnumSet.copyOf(DocumentStore.CAPABILITIES);

  static {
    CAPABILITIES.add(Capability.PUSH);
  }

  private ToyStore() {}

  /**
   * Opens the store of these documents.
   *
   * @param documents with no requests in flight, so that renewals need no separate connection
   */
  static LockStore open(VersionedDocuments documents) {
    StoreProfile profile =
        new StoreProfile(
            "toy", CAPABILITIES, Duration.ZERO, Duration.ofMillis(1), Duration.ofMillis(1));
    return new DocumentStore(profile, documents, documents);
  }
}
