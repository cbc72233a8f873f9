package io.mortise.internal.outer;

import io.mortise.OuterLocks;
import io.mortise.spi.LockStore;
import java.time.Duration;
import java.util.ServiceLoader;

/**
 * Puts the locks of another library around those of a store; found through {@link ServiceLoader}.
 */
public interface OuterLockProvider {
  /**
   * The provider of the library's class loader.
   *
   * @throws IllegalStateException if its artifact is missing
   */
  static OuterLockProvider find() {
    return ServiceLoader.load(OuterLockProvider.class, OuterLockProvider.class.getClassLoader())
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalStateException(
                    "alsoHolding needs the artifact mortise-store-support, which each store brings"
                        + " along. A shaded jar must merge the files of META-INF/services."));
  }

  /**
   * A store whose sessions take a lock of the other library before each of their own.
   *
   * @param ttl of the client's sessions
   */
  LockStore around(LockStore store, OuterLocks outer, Duration ttl);
}
