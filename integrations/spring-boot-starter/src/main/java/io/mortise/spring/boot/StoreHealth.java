package io.mortise.spring.boot;

import io.mortise.LockClient;
import io.mortise.admin.LockInfo;
import java.util.Optional;

/** The health check for both lines of Spring Boot. */
final class StoreHealth {
  /** A lookup creates nothing, whether or not there is such a lock. */
  private static final String NAME = "mortise/health";

  private StoreHealth() {}

  /** The store's display name, without secrets. Does not block. */
  static String display(LockClient locks) {
    return locks.admin().store().display();
  }

  /**
   * Queries the store. Blocks for one round trip.
   *
   * @throws io.mortise.LockException if it does not answer
   * @throws IllegalStateException if the client is closed
   */
  static void check(LockClient locks) {
    Optional<LockInfo> unused = locks.admin().find(NAME);
  }
}
