package io.mortise.redis;

import io.mortise.redis.plain.KeyLayout;
import io.mortise.redis.plain.PlainOptions;
import io.mortise.redis.plain.PlainStore;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;
import java.util.Set;
import java.util.UUID;

/** Opens {@code redis-plain:} and {@code rediss-plain:} URLs. */
final class PlainStoreOpener {
  static final Set<String> SCHEMES = Set.of("redis-plain", "rediss-plain");

  private static final Set<String> PARAMETERS =
      Set.of("prefix", "layout", "timeout", "accept-eviction", "wire");

  /** Leaves room for a readable lock name in the key. */
  private static final int LONGEST_PREFIX = 256;

  private PlainStoreOpener() {}

  static LockStore open(StoreUrl url, Ticker ticker) {
    RedisTarget target = RedisTarget.parse(url, PARAMETERS);
    String prefix = url.parameter("prefix", "");
    if (prefix.length() > LONGEST_PREFIX) {
      throw new IllegalArgumentException(
          "Parameter 'prefix' of store URL '%s' is longer than %s characters."
              .formatted(url, LONGEST_PREFIX));
    }
    PlainOptions options =
        new PlainOptions(
            KeyLayout.named(url.parameter("layout", "string")), prefix, target.options().timeout());
    RedisConnections redisConnections = RedisConnections.connect(target, ticker);
    try {
      new ServerPreflight(redisConnections.control(), target.options(), target.display(), ticker)
          // A fresh key and XX, so nothing is written; a user without the right to write is still
          // refused.
          .look("SET", prefix + "mortise:probe:" + UUID.randomUUID(), "", "XX", "PX", "1");
      return new PlainStore(
          redisConnections.ops(),
          redisConnections.control(),
          redisConnections.closing(),
          options,
          target.endpoint().database(),
          target.display(),
          ticker);
    } catch (RuntimeException e) {
      redisConnections.ops().close();
      redisConnections.control().close();
      redisConnections.closing().run();
      throw e;
    }
  }
}
