package io.mortise.redis;

import io.mortise.redis.transport.Endpoint;
import io.mortise.redis.transport.TransportProvider;
import io.mortise.spi.StoreUrl;
import io.mortise.support.internal.server.ServerUrl;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A Redis to connect to, and its options. Never shows the password.
 *
 * @param endpoint address and credentials; the address counts only without Sentinel
 * @param library the client library that carries commands; null for sockets of our own
 * @param sentinel the Sentinels that name the master; null if the address is fixed
 */
record RedisTarget(
    Endpoint endpoint,
    String display,
    RedisOptions options,
    @Nullable TransportProvider library,
    Replication replication,
    @Nullable Sentinel sentinel) {
  static final Set<String> PARAMETERS =
      Set.of(
          "namespace",
          "timeout",
          "retention",
          "accept-eviction",
          "wire",
          "wait-replicas",
          "wait-timeout");

  private static final Duration LONGEST_CONNECT = Duration.ofSeconds(5);

  static final int DEFAULT_PORT = 6379;

  private static final String EXAMPLE =
      "redis://user:password@localhost:6379/0, special characters as %XX";

  /** The Sentinels that name the master, and its name there. */
  record Sentinel(List<Endpoint> servers, String name) {}

  static RedisTarget parse(StoreUrl url) {
    if (url.scheme().endsWith("-sentinel")) {
      return SentinelUrlParser.parse(url);
    }
    Set<String> parameters = new TreeSet<>(PARAMETERS);
    parameters.add("strict-expiry");
    return parse(url, parameters);
  }

  /** As {@link #parse(StoreUrl)}, with other known parameters; TLS adds one. */
  static RedisTarget parse(StoreUrl url, Set<String> parameters) {
    boolean tls = url.scheme().startsWith("rediss");
    allowOnly(url, parameters);
    RedisOptions options = options(url);
    UrlAuthority parts = UrlAuthority.parse(url, DEFAULT_PORT, EXAMPLE);
    if (parts.hosts().size() != 1 || !parts.path().matches("\\d{0,6}")) {
      throw UrlAuthority.wrong(url, EXAMPLE);
    }
    UrlAuthority.Host host = parts.hosts().get(0);
    int database = parts.path().isEmpty() ? 0 : Integer.parseInt(parts.path());
    Endpoint endpoint =
        new Endpoint(
            host.name(),
            host.port(),
            database,
            parts.user(),
            parts.password(),
            tls,
            trusted(url),
            connectTimeout(options));
    String display = url.scheme() + ":" + host + (database == 0 ? "" : "/" + database);
    return new RedisTarget(
        endpoint, display, options, library(url), Replication.of(url, options.timeout()), null);
  }

  /** Refuses parameters that are in neither list; TLS adds one. */
  static void allowOnly(StoreUrl url, Set<String> parameters, String... more) {
    Set<String> known = new TreeSet<>(parameters);
    known.addAll(List.of(more));
    if (url.scheme().startsWith("rediss")) {
      known.add("ca");
    }
    url.allowOnly(known);
  }

  static RedisOptions options(StoreUrl url) {
    return RedisOptions.DEFAULT
        .withNamespace(url.parameter("namespace", ""))
        .withTimeout(url.duration("timeout", RedisOptions.DEFAULT.timeout()))
        .withRetention(url.duration("retention", RedisOptions.DEFAULT.retention()))
        .withAcceptEviction(url.flag("accept-eviction", false))
        .withStrictExpiry(url.flag("strict-expiry", false));
  }

  /** How long connecting may take before the server counts as unreachable. */
  static Duration connectTimeout(RedisOptions options) {
    Duration timeout = options.timeout();
    return timeout.compareTo(LONGEST_CONNECT) < 0 ? timeout : LONGEST_CONNECT;
  }

  /** The file of the parameter {@code ca}. */
  static @Nullable Path trusted(StoreUrl url) {
    return ServerUrl.trusted(url, url.scheme().startsWith("rediss"));
  }

  /** The client library that carries commands; null for sockets of our own. */
  static @Nullable TransportProvider library(StoreUrl url) {
    String name = url.parameter("wire", "direct");
    return switch (name) {
      case "direct" -> null;
      case "lettuce" ->
          TransportProvider.find(name)
              .orElseThrow(
                  () ->
                      new IllegalArgumentException(
                          "Store URL '%s' asks for Lettuce by the parameter 'wire'. Add the artifact mortise-redis-lettuce to the class path, or leave the parameter out."
                              .formatted(url)));
      default ->
          throw new IllegalArgumentException(
              "Parameter 'wire' of store URL '%s' is '%s'. Expected direct or lettuce."
                  .formatted(url, name));
    };
  }

  @Override
  public String toString() {
    return display;
  }
}
