package io.mortise.redis;

import io.mortise.redis.transport.Endpoint;
import io.mortise.spi.StoreUrl;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads {@code redis-sentinel://[user:password@]host[:port],…/master}. */
final class SentinelUrlParser {
  private static final int SENTINEL_PORT = 26379;
  private static final String EXAMPLE =
      "redis-sentinel://user:password@host1:26379,host2:26379,host3:26379/mymaster";

  private SentinelUrlParser() {}

  static RedisTarget parse(StoreUrl url) {
    boolean tls = url.scheme().startsWith("rediss");
    RedisTarget.allowOnly(
        url, RedisTarget.PARAMETERS, "database", "sentinel-user", "sentinel-password");
    UrlAuthority urlAuthority = UrlAuthority.parse(url, SENTINEL_PORT, EXAMPLE);
    if (urlAuthority.path().isEmpty()) {
      throw UrlAuthority.wrong(url, EXAMPLE);
    }
    if (!url.parameter("wire", "direct").equals("direct")) {
      throw new IllegalArgumentException(
          "Store URL '" + url + "' asks for another wire; only 'direct' follows a failover.");
    }
    String database = url.parameter("database", "0");
    if (!database.matches("\\d{1,6}")) {
      throw new IllegalArgumentException(
          "Parameter 'database' of store URL '" + url + "' is not a number.");
    }
    Path trusted = RedisTarget.trusted(url);
    RedisOptions options = RedisTarget.options(url);
    List<Endpoint> sentinels =
        urlAuthority.hosts().stream().map(host -> sentinel(host, url, tls, trusted)).toList();
    Endpoint server =
        new Endpoint(
            sentinels.get(0).host(),
            RedisTarget.DEFAULT_PORT,
            Integer.parseInt(database),
            urlAuthority.user(),
            urlAuthority.password(),
            tls,
            trusted,
            RedisTarget.connectTimeout(options));
    return new RedisTarget(
        server,
        url.scheme() + ":" + urlAuthority,
        options,
        null,
        Replication.of(url, options.timeout()),
        new RedisTarget.Sentinel(sentinels, urlAuthority.path()));
  }

  private static Endpoint sentinel(
      UrlAuthority.Host host, StoreUrl url, boolean tls, @Nullable Path trusted) {
    return new Endpoint(
        host.name(),
        host.port(),
        0,
        url.parameter("sentinel-user"),
        url.parameter("sentinel-password"),
        tls,
        trusted,
        RedisConnections.SENTINEL_TIMEOUT);
  }
}
