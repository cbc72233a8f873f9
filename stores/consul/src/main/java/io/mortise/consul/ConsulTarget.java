package io.mortise.consul;

import io.mortise.spi.StoreUrl;
import io.mortise.support.http.HttpTarget;
import io.mortise.support.internal.server.ServerUrl;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The address of Consul, and how to use it. Never shows the token.
 *
 * @param http where agents of one datacenter answer
 * @param token of Consul's ACL system; null for the anonymous one
 * @param prefix the begin of each key; no two namespaces share keys
 */
record ConsulTarget(HttpTarget http, @Nullable String token, String prefix) {
  private static final int DEFAULT_PORT = 8500;
  private static final int DEFAULT_TLS_PORT = 8501;

  /** A token that a header can carry. */
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
              + "' names a user, or has a token that is not of visible ASCII. Write"
              + " consul://token@host:8500.");
    }
    String namespace = ServerUrl.namespace(url, "_", "-");
    return new ConsulTarget(
        HttpTarget.of(url, servers, "Consul", tls),
        token,
        // Consul's server of HTTP joins two slashes to one.
        namespace.isEmpty() ? "mortise/" : "mortise-" + namespace + "/");
  }

  @Override
  public String toString() {
    return http.display();
  }
}
