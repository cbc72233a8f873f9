package io.mortise.redis;

import io.lettuce.core.RedisURI;
import io.mortise.spi.StoreUrl;
import java.io.File;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Where the Redis is, and how to use it. Never shows the password. */
record RedisTarget(
    @Nullable RedisURI uri, String display, RedisStore.Options options, @Nullable File trusted) {
  private static final Set<String> PARAMETERS =
      Set.of("namespace", "timeout", "retention", "accept-eviction");
  private static final Set<String> TLS_PARAMETERS =
      Set.of("namespace", "timeout", "retention", "accept-eviction", "ca");

  /** What a connection may cost at most before the server counts as unreachable. */
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);

  static RedisTarget parse(StoreUrl url) {
    boolean tls = url.scheme().equals("rediss");
    url.allowOnly(tls ? TLS_PARAMETERS : PARAMETERS);
    RedisStore.Options options =
        RedisStore.Options.DEFAULT
            .withNamespace(url.parameter("namespace", ""))
            .withTimeout(url.duration("timeout", RedisStore.Options.DEFAULT.timeout()))
            .withRetention(url.duration("retention", RedisStore.Options.DEFAULT.retention()))
            .withAcceptEviction(url.flag("accept-eviction", false));
    URI uri;
    try {
      uri = new URI(url.base());
    } catch (URISyntaxException e) {
      // Its message shows the whole text, password included.
      throw wrong(url);
    }
    String host = uri.getHost();
    String path = uri.getRawPath();
    if (host == null || !(path.isEmpty() || path.matches("/\\d{0,6}"))) {
      throw wrong(url);
    }
    int port = uri.getPort() < 0 ? RedisURI.DEFAULT_REDIS_PORT : uri.getPort();
    int database = path.length() < 2 ? 0 : Integer.parseInt(path.substring(1));
    RedisURI redis =
        RedisURI.builder()
            .withHost(host.replaceAll("[\\[\\]]", ""))
            .withPort(port)
            .withDatabase(database)
            .withSsl(tls)
            .withTimeout(CONNECT_TIMEOUT)
            .withClientName("mortise")
            .build();
    authenticate(redis, uri.getRawUserInfo());
    String ca = url.parameter("ca");
    File trusted = ca == null ? null : new File(ca);
    if (trusted != null && !trusted.canRead()) {
      throw new IllegalArgumentException(
          "Cannot read '" + ca + "', the parameter 'ca' of store URL '" + url + "'.");
    }
    String display = url.scheme() + ":" + host + ":" + port + (database == 0 ? "" : "/" + database);
    return new RedisTarget(redis, display, options, trusted);
  }

  private static void authenticate(RedisURI redis, @Nullable String userInfo) {
    if (userInfo == null || userInfo.isEmpty()) {
      return;
    }
    int colon = userInfo.indexOf(':');
    String user = colon < 0 ? "" : decode(userInfo.substring(0, colon));
    char[] password = decode(userInfo.substring(colon + 1)).toCharArray();
    if (user.isEmpty()) {
      redis.setAuthentication(password);
    } else {
      redis.setAuthentication(user, password);
    }
  }

  private static String decode(String part) {
    return URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8);
  }

  private static IllegalArgumentException wrong(StoreUrl url) {
    return new IllegalArgumentException(
        "'"
            + url
            + "' is not a Redis URL. Write it like redis://user:password@localhost:6379/0, special characters as %XX.");
  }

  @Override
  public String toString() {
    return display;
  }
}
