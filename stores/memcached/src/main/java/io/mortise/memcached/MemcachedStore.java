package io.mortise.memcached;

import io.mortise.annotation.Beta;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;

/**
 * Opens stores in memcached, server 1.6 or later: each lock is an item that expires.
 *
 * <p><b>For efficiency only.</b> memcached is a cache. It forgets all locks when it is restarted or
 * flushed, and may drop some where it evicts, so two clients may hold a lock at the same time.
 * There is no fencing token that tells the two apart. A lock in memcached keeps most double work
 * away; it must not be what prevents harm.
 *
 * <p>This store lacks fencing tokens, a queue, shared and semaphore modes, at-most and at-least
 * times, sticky locks, listing, eviction, once, latches and barriers. Such requests are refused
 * with {@link io.mortise.UnsupportedByStoreException}.
 */
@Beta
public final class MemcachedStore {
  private MemcachedStore() {}

  /**
   * Connects to {@code memcached://[user:password@]host[:port][,host[:port]…]}. Several servers
   * have a share of the names each. Parameters: {@code namespace}, {@code timeout}, and {@code
   * accept-eviction}. If one of several servers cannot be reached, the store keeps trying, and
   * locks of its share fail meanwhile. Blocks, for twice the timeout at most.
   *
   * @throws IllegalArgumentException if the URL has an unknown or wrong parameter
   * @throws io.mortise.StoreUnavailableException if no server can be reached, or none answers
   * @throws io.mortise.StoreUnfitException if one can, but must not be used as it is: it evicts,
   *     has no CAS values, is older than 1.6, or refuses the user
   */
  public static LockStore open(String url) {
    return MemcachedServers.connect(StoreUrl.parse(url), Ticker.SYSTEM);
  }
}
