package io.mortise.memcached;

import io.mortise.spi.StoreUrl;
import io.mortise.support.internal.server.ServerUrl;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A server, and how to use it. Never shows a secret.
 *
 * @param credentials user and password as the server wants them; null if there are none
 * @param prefix the beginning of each key, before {@code :} or {@code ;}
 * @param acceptsEviction whether the server may evict
 */
record MemcachedTarget(
    String host,
    int port,
    @Nullable String credentials,
    String prefix,
    Duration timeout,
    boolean acceptsEviction) {
  private static final int DEFAULT_PORT = 11211;
  private static final String PREFIX = "mortise";

  /** The servers of a URL, in its order. */
  static List<MemcachedTarget> parse(StoreUrl url) {
    url.allowOnly(Set.of("namespace", "timeout", "accept-eviction"));
    ServerUrl servers = ServerUrl.parse(url, DEFAULT_PORT, "user:password");
    if (Set.copyOf(servers.servers()).size() < servers.servers().size()) {
      throw new IllegalArgumentException(
          "Store URL '" + url + "' names a server twice. Write each once.");
    }
    String namespace = ServerUrl.namespace(url, ".", "_", "-");
    // A namespace has no colon, so no two of them share keys.
    String prefix = namespace.isEmpty() ? PREFIX : PREFIX + "." + namespace;
    String credentials = credentials(url, servers);
    Duration timeout = ServerUrl.timeout(url);
    boolean acceptsEviction = url.flag("accept-eviction", false);
    return servers.servers().stream()
        .map(
            server -> {
              int colon = server.lastIndexOf(':');
              int port = Integer.parseInt(server.substring(colon + 1));
              return new MemcachedTarget(
                  server.substring(0, colon), port, credentials, prefix, timeout, acceptsEviction);
            })
        .toList();
  }

  /** They are two words of a line, so neither may hold what ends one. */
  private static @Nullable String credentials(StoreUrl url, ServerUrl servers) {
    String user = servers.user();
    String secret = servers.secret();
    if (secret == null) {
      return null;
    }
    if (user == null
        || Stream.of(user, secret)
            .anyMatch(part -> part.isEmpty() || part.matches("(?s).*[\\s\\p{Cntrl}].*"))) {
      throw new IllegalArgumentException(
          "Store URL '%s' has no user and password that memcached takes. Write both, without blanks: memcached://user:password@host."
              .formatted(url));
    }
    return user + " " + secret;
  }

  /** Its name in messages, by which it is also chosen for a lock. */
  String server() {
    return host + ":" + port;
  }

  @Override
  public String toString() {
    return "memcached:" + server();
  }
}
