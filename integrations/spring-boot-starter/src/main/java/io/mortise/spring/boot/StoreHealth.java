package io.mortise.spring.boot;

import io.mortise.LockClient;
import io.mortise.admin.LockInfo;
import java.util.Optional;

/** What the health of both lines of Spring Boot asks. */
final class StoreHealth {
  /** Looking creates nothing, whether or not there is such a lock. */
  private static final String NAME = "mortise/health";

  private StoreHealth() {}

  /** What the store is called; has no secrets. Does not block. */
  static String display(LockClient locks) {
    return locks.admin().store().display();
  }

  /**
   * Asks the store something. Blocks for one round trip.
   *
   * @throws io.mortise.LockException if it does not answer
   * @throws IllegalStateException if the client is closed
   */
  static void check(LockClient locks) {
    Optional<LockInfo> unused = locks.admin().find(NAME);
  }
}
