package io.mortise.curator;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The parts of {@code InterProcessSemaphoreV2}: a mutex, and leases that are counted. */
final class SemaphoreNodes {
  /** The directory of the mutex that a client must hold to take a lease. */
  static final String LOCKS = "locks";

  /** The directory of the leases; every child counts as one. */
  static final String LEASES = "leases";

  /** The part of a lease's name between its protection id and the sequence number. */
  static final String WORD = "lease-";

  private SemaphoreNodes() {}

  /** The other use of a semaphore's path, if its children show one; null if not. */
  static @Nullable String misuse(List<String> children) {
    for (String child : children) {
      for (Recipe recipe : Recipe.values()) {
        if (recipe.isMine(child)) {
          return recipe.use();
        }
      }
    }
    return null;
  }

  /** Sort key of a lease by creation, as text. */
  static String order(String lease) {
    return lease.substring(lease.lastIndexOf(WORD) + 1);
  }
}
