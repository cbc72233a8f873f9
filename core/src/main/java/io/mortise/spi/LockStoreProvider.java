package io.mortise.spi;

import io.mortise.internal.table.MemStore;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;

/**
 * Opens stores by URL; found through {@link java.util.ServiceLoader}. Has a public constructor
 * without parameters.
 */
public interface LockStoreProvider {
  /** The schemes that this provider opens, as {@link StoreUrl#scheme()} tells them. */
  Set<String> schemes();

  /**
   * Connects, checks that the server is fit to keep locks, and makes what is missing. Blocks.
   *
   * @throws IllegalArgumentException if the URL has an unknown or wrong parameter
   * @throws io.mortise.StoreUnavailableException if the server cannot be reached
   * @throws io.mortise.StoreUnfitException if it can, but must not be used as it is
   */
  LockStore open(StoreUrl url);

  /**
   * Opens the store of a URL by the provider on the class or module path that knows its scheme; for
   * stores that are made of others. Blocks.
   *
   * @throws IllegalArgumentException if nobody knows the scheme, or the URL has an unknown or wrong
   *     parameter
   * @throws io.mortise.StoreUnavailableException if the server cannot be reached
   * @throws io.mortise.StoreUnfitException if it can, but must not be used as it is
   */
  static LockStore openStore(StoreUrl url) {
    if (url.scheme().equals("mem")) {
      url.allowOnly(Set.of());
      return new MemStore();
    }
    TreeSet<String> known = new TreeSet<>(Set.of("mem"));
    for (LockStoreProvider provider : ServiceLoader.load(LockStoreProvider.class)) {
      if (provider.schemes().contains(url.scheme())) {
        return provider.open(url);
      }
      known.addAll(provider.schemes());
    }
    throw new IllegalArgumentException(
        "No store for '"
            + url
            + "'. On the class path are: "
            + String.join(", ", known)
            + ". Add the module of the store (mortise-redis, mortise-jdbc, …), or correct the scheme.");
  }
}
