package io.mortise.redis;

import io.mortise.annotation.Beta;
import io.mortise.redis.transport.TransportFactory;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;
import java.time.Duration;

/**
 * Opens stores in Redis, 6.2 or later, that does not evict: one server, the master that Sentinels
 * name, or a cluster.
 *
 * <p>A Redis lock has a limit. Redis answers before its replicas have written, so a failover to a
 * replica, or a restart from an old snapshot, can forget a lock that is held. The holder's fencing
 * token is then still smaller than that of the next holder, so a resource that checks tokens stays
 * safe.
 */
public final class RedisStore {
  static final Duration SHORTEST_RETENTION = Duration.ofMinutes(1);

  private RedisStore() {}

  /**
   * Connects to {@code redis://[user:password@]host[:port][/database]}, or {@code rediss://…} for
   * TLS with a verified certificate. Parameters: {@code namespace}, {@code timeout}, {@code
   * retention}, {@code accept-eviction}, {@code strict-expiry} (one server only), as in {@link
   * RedisOptions}; {@code wire}, which is {@code direct} (the default) or {@code lettuce}, which
   * takes the artifact {@code mortise-redis-lettuce}; and for TLS {@code ca}, a file of trusted
   * certificates in PEM form.
   *
   * <p>Or to the master that Sentinels name: {@code
   * redis-sentinel://[user:password@]host[:port],…/name}, with the parameters {@code database},
   * {@code sentinel-user} and {@code sentinel-password} besides. Or to a cluster: {@code
   * redis-cluster://[user:password@]host[:port],…}, any of its nodes; parameter {@code buckets}.
   * For both, {@code rediss-…} for TLS.
   *
   * <p>With {@code wait-replicas}, a number or {@code all}, grants and renewals wait for replicas,
   * for {@code wait-timeout} at most. Blocks, for some seconds if no server answers.
   *
   * <p>{@code redis-sharded://host1,host2,…} spreads names over independent servers, one of which
   * must answer. More parameters: {@code ids}, one for each server; {@code move}.
   *
   * <p>{@code redis-plain://…} and {@code rediss-plain://…} open locks that are just a key with an
   * expiry, as clients in other languages write them. They offer mutual exclusion and little more:
   * see {@link io.mortise.spi.Capability#SESSION}. Parameters: {@code layout}, which is {@code
   * string} (the default: SET NX PX, compare-and-delete) or {@code hash}; {@code prefix}, which
   * stands before each name in its key; {@code timeout}, {@code accept-eviction}, {@code wire},
   * {@code ca}.
   *
   * @throws IllegalArgumentException if the URL has an unknown or wrong parameter
   * @throws io.mortise.StoreUnavailableException if the server cannot be reached
   * @throws io.mortise.StoreUnfitException if it can, but must not be used as it is
   */
  public static LockStore open(String url) {
    return new RedisStoreProvider().open(StoreUrl.parse(url));
  }

  /**
   * Keeps locks over the connections of a client library. Only for the artifact of that library,
   * such as {@code mortise-redis-lettuce}: the parameter types are exported to it alone. Blocks.
   *
   * @param display names the store in messages
   * @throws io.mortise.StoreUnavailableException if the server cannot be reached
   * @throws io.mortise.StoreUnfitException if it can, but must not be used as it is
   */
  @Beta
  @SuppressWarnings("exports") // the module of that library sees it
  public static LockStore over(TransportFactory transports, String display, RedisOptions options) {
    return RedisBeatStore.wrapIfStrict(
        RedisLockStore.over(transports, display, options, Ticker.SYSTEM), Ticker.SYSTEM);
  }
}
