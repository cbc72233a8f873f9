package io.mortise.redis;

import io.mortise.redis.wire.Endpoint;
import io.mortise.spi.StoreUrl;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;

/** Where the Redis is, and how to use it. Never shows the password. */
record RedisTarget(Endpoint endpoint, String display, RedisStore.Options options, Wire wire) {
  private static final Set<String> PARAMETERS =
      Set.of("namespace", "timeout", "retention", "accept-eviction", "wire");

  /** What a connection may cost at most before the server counts as unreachable. */
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);

  private static final int DEFAULT_PORT = 6379;

  /** By what commands travel. */
  enum Wire {
    DIRECT,
    LETTUCE
  }

  static RedisTarget parse(StoreUrl url) {
    return parse(url, PARAMETERS);
  }

  /** As {@link #parse(StoreUrl)}, where other parameters are known; TLS has one more. */
  static RedisTarget parse(StoreUrl url, Set<String> parameters) {
    boolean tls = url.scheme().startsWith("rediss");
    Set<String> known = new TreeSet<>(parameters);
    if (tls) {
      known.add("ca");
    }
    url.allowOnly(known);
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
    int port = uri.getPort() < 0 ? DEFAULT_PORT : uri.getPort();
    int database = path.length() < 2 ? 0 : Integer.parseInt(path.substring(1));
    String ca = url.parameter("ca");
    Path trusted = ca == null ? null : Path.of(ca);
    if (trusted != null && !Files.isReadable(trusted)) {
      throw new IllegalArgumentException(
          "Cannot read '" + ca + "', the parameter 'ca' of store URL '" + url + "'.");
    }
    String userInfo = uri.getRawUserInfo();
    int colon = userInfo == null ? -1 : userInfo.indexOf(':');
    String user = colon <= 0 ? null : decode(userInfo.substring(0, colon));
    String password =
        userInfo == null || userInfo.isEmpty() ? null : decode(userInfo.substring(colon + 1));
    Endpoint endpoint =
        new Endpoint(
            host.replaceAll("[\\[\\]]", ""),
            port,
            database,
            user,
            password,
            tls,
            trusted,
            CONNECT_TIMEOUT);
    String display = url.scheme() + ":" + host + ":" + port + (database == 0 ? "" : "/" + database);
    return new RedisTarget(endpoint, display, options, wire(url));
  }

  private static Wire wire(StoreUrl url) {
    String name = url.parameter("wire", "direct");
    return switch (name) {
      case "direct" -> Wire.DIRECT;
      case "lettuce" -> Wire.LETTUCE;
      default ->
          throw new IllegalArgumentException(
              "Parameter 'wire' of store URL '%s' is '%s'. Expected direct or lettuce."
                  .formatted(url, name));
    };
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
