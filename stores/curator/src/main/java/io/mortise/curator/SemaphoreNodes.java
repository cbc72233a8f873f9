package io.mortise.curator;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The parts of {@code InterProcessSemaphoreV2}: a mutex, and leases that are counted. */
final class SemaphoreNodes {
  /** The directory of the mutex that a client must hold to take a lease. */
  static final String LOCKS = "locks";

  /** The directory of the leases; every child counts as one. */
  static final String LEASES = "leases";

  /** What the name of a lease has behind its protection id, before the sequence number. */
  static final String WORD = "lease-";

  private SemaphoreNodes() {}

  /** What a semaphore's path is in use as otherwise, seen from its children; null if it is not. */
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

  /** In which order leases were made, as text. */
  static String order(String lease) {
    return lease.substring(lease.lastIndexOf(WORD) + 1);
  }
}
