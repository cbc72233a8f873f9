package io.mortise.etcd;

import io.mortise.spi.StoreUrl;
import io.mortise.support.http.HttpTarget;
import io.mortise.support.internal.server.ServerUrl;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The address of etcd, and how to use it. Never shows the password.
 *
 * @param http where the cluster's members answer clients
 * @param prefix the begin of each key. A namespace has no slash, so no two of them share keys
 */
record EtcdTarget(
    HttpTarget http, @Nullable String user, @Nullable String password, String prefix) {
  private static final int DEFAULT_PORT = 2379;

  static EtcdTarget parse(StoreUrl url) {
    boolean tls = url.flag("tls", false);
    url.allowOnly(Set.of("namespace", "timeout", "tls", "ca"));
    ServerUrl servers = ServerUrl.parse(url, DEFAULT_PORT, "user:password");
    String user = servers.user();
    if (servers.secret() != null && (user == null || user.isEmpty())) {
      throw new IllegalArgumentException(
          "Store URL '" + url + "' needs a user and a password, etcd://user:password@host:2379.");
    }
    return new EtcdTarget(
        HttpTarget.of(url, servers, "etcd", tls),
        user,
        servers.secret(),
        "/mortise/" + ServerUrl.namespace(url, ".", "_", "-") + "/");
  }

  @Override
  public String toString() {
    return http.display();
  }
}
