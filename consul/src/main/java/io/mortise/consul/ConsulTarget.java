package io.mortise.consul;

import io.mortise.internal.storekit.ServerUrl;
import io.mortise.spi.StoreUrl;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Where Consul is, and how to use it. Never shows the token.
 *
 * @param agents where agents of one datacenter answer
 * @param token of Consul's ACL system; null for the anonymous one
 * @param prefix what each key begins with; no two namespaces share keys
 * @param ca a file of trusted certificates; null for those of the JVM
 */
record ConsulTarget(
    List<URI> agents,
    @Nullable String token,
    String prefix,
    Duration timeout,
    @Nullable Path ca,
    String display) {
  private static final int DEFAULT_PORT = 8500;
  private static final int DEFAULT_TLS_PORT = 8501;
  private static final Pattern NAMESPACE = Pattern.compile("[A-Za-z0-9_-]{0,64}");

  /** What a header can carry. */
  private static final Pattern TOKEN = Pattern.compile("[!-~]+");

  static ConsulTarget parse(StoreUrl url) {
    boolean tls = url.flag("tls", false);
    url.allowOnly(Set.of("namespace", "timeout", "tls", "ca"));
    ServerUrl servers = ServerUrl.parse(url, tls ? DEFAULT_TLS_PORT : DEFAULT_PORT, "token");
    String token = servers.secret();
    if (servers.user() != null || (token != null && !TOKEN.matcher(token).matches())) {
      throw new IllegalArgumentException(
          "Store URL '"
              + url
              + "' names a user, or has a token that is not of visible ASCII. Write consul://token@host:8500.");
    }
    return new ConsulTarget(
        servers.uris(url, tls),
        token,
        prefix(url),
        ServerUrl.timeout(url),
        ServerUrl.trusted(url, tls),
        "consul:" + servers);
  }

  private static String prefix(StoreUrl url) {
    String namespace = url.parameter("namespace", "");
    if (!NAMESPACE.matcher(namespace).matches()) {
      throw new IllegalArgumentException(
          "'"
              + namespace
              + "' is not a namespace in Consul. Use up to 64 letters, digits, '_', '-'.");
    }
    // Consul's server of HTTP joins two slashes to one.
    return namespace.isEmpty() ? "mortise/" : "mortise-" + namespace + "/";
  }

  @Override
  public String toString() {
    return display;
  }
}
