package io.mortise.spi;

import java.util.Set;

/**
 * Opens stores by URL; found through {@link java.util.ServiceLoader}. Has a public constructor
 * without parameters.
 */
public interface LockStoreProvider {
  /**
   * The URL schemes of this provider, as in {@link StoreUrl#scheme()}. {@code jdbc} stands for each
   * {@code jdbc:} scheme that no provider names.
   */
  Set<String> schemes();

  /**
   * Connects, checks that the server is fit to keep locks, and creates missing tables or keys.
   * Blocks.
   *
   * @throws IllegalArgumentException if the URL has an unknown or wrong parameter
   * @throws io.mortise.StoreUnavailableException if the server cannot be reached
   * @throws io.mortise.StoreUnfitException if it is reachable but must not be used as it is
   */
  LockStore open(StoreUrl url);
}
