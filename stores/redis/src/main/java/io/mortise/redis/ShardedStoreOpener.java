package io.mortise.redis;

import io.mortise.redis.sharded.Shard;
import io.mortise.redis.sharded.ShardList;
import io.mortise.redis.sharded.ShardedStore;
import io.mortise.redis.transport.Endpoint;
import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Opens {@code redis-sharded:} and {@code rediss-sharded:} URLs. */
final class ShardedStoreOpener {
  static final Set<String> SCHEMES = Set.of("redis-sharded", "rediss-sharded");

  private static final String EXAMPLE = "redis-sharded://user:password@host1:6379,host2:6379";
  private static final Duration SHORTEST_MOVE = Duration.ofSeconds(1);
  private static final Duration LONGEST_MOVE = Duration.ofDays(1);

  private ShardedStoreOpener() {}

  static LockStore open(StoreUrl url, Ticker ticker) {
    RedisTarget.allowOnly(url, RedisTarget.PARAMETERS, "ids", "move");
    UrlAuthority urlAuthority = UrlAuthority.parse(url, RedisTarget.DEFAULT_PORT, EXAMPLE);
    List<String> hosts = urlAuthority.hosts().stream().map(Object::toString).toList();
    if (!urlAuthority.path().matches("\\d{0,6}")
        || hosts.size() < 2
        || new HashSet<>(hosts).size() < hosts.size()) {
      throw UrlAuthority.wrong(url, EXAMPLE + ", two servers or more, each once");
    }
    List<String> ids = ids(url, hosts);
    RedisOptions options = RedisTarget.options(url);
    List<Shard> shards = new ArrayList<>();
    for (int i = 0; i < hosts.size(); i++) {
      shards.add(shard(url, options, urlAuthority, i, ids.get(i), ticker));
    }
    ShardList list = new ShardList(ids, options.prefix(), move(url), options.timeout());
    return new ShardedStore(
        shards,
        list,
        new StoreProfile(
            url.scheme() + ":" + urlAuthority.shown(),
            EnumSet.allOf(Capability.class),
            options.timeout(),
            RedisLockStore.MIN_TTL,
            RedisLockStore.EXPIRY_LAG),
        ticker);
  }

  private static Shard shard(
      StoreUrl url,
      RedisOptions options,
      UrlAuthority urlAuthority,
      int number,
      String id,
      Ticker ticker) {
    UrlAuthority.Host host = urlAuthority.hosts().get(number);
    String display = url.scheme() + ":" + host;
    Endpoint endpoint =
        new Endpoint(
            host.name(),
            host.port(),
            urlAuthority.path().isEmpty() ? 0 : Integer.parseInt(urlAuthority.path()),
            urlAuthority.user(),
            urlAuthority.password(),
            url.scheme().startsWith("rediss"),
            RedisTarget.trusted(url),
            RedisTarget.connectTimeout(options));
    RedisTarget target =
        new RedisTarget(
            endpoint,
            display,
            options,
            RedisTarget.library(url),
            Replication.of(url, options.timeout()),
            null);
    return new Shard(
        id,
        display,
        () -> {
          RedisLockStore store = RedisLockStore.connect(target, ticker);
          return new Shard.ConnectedShard(store, store.control());
        });
  }

  private static List<String> ids(StoreUrl url, List<String> hosts) {
    String given = url.parameter("ids");
    if (given == null) {
      return hosts;
    }
    List<String> ids = Arrays.asList(given.split(",", -1));
    if (ids.size() != hosts.size()
        || new HashSet<>(ids).size() < ids.size()
        || !ids.stream().allMatch(id -> id.matches("[A-Za-z0-9._-]{1,64}"))) {
      throw new IllegalArgumentException(
          "Parameter 'ids' of store URL '%s' is '%s'. Expected one for each server, all different, of letters, digits, '.', '_', '-'."
              .formatted(url, given));
    }
    return ids;
  }

  private static @Nullable Duration move(StoreUrl url) {
    if (url.parameter("move") == null) {
      return null;
    }
    Duration move = url.duration("move", SHORTEST_MOVE);
    if (move.compareTo(SHORTEST_MOVE) < 0 || move.compareTo(LONGEST_MOVE) > 0) {
      throw new IllegalArgumentException(
          "Parameter 'move' of store URL '%s' is not within 1s and 1d. Give the longest TTL of any client."
              .formatted(url));
    }
    return move;
  }
}
