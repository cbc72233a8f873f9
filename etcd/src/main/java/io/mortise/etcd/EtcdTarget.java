package io.mortise.etcd;

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
 * Where etcd is, and how to use it. Never shows the password.
 *
 * @param members where the cluster's members answer clients
 * @param ca a file of trusted certificates; null for those of the JVM
 */
record EtcdTarget(
    List<URI> members,
    @Nullable String user,
    @Nullable String password,
    String namespace,
    Duration timeout,
    @Nullable Path ca,
    String display) {
  private static final int DEFAULT_PORT = 2379;
  private static final Pattern NAMESPACE = Pattern.compile("[A-Za-z0-9._-]{0,64}");

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
        servers.uris(url, tls),
        user,
        servers.secret(),
        namespace(url),
        ServerUrl.timeout(url),
        ServerUrl.trusted(url, tls),
        "etcd:" + servers);
  }

  private static String namespace(StoreUrl url) {
    String namespace = url.parameter("namespace", "");
    if (!NAMESPACE.matcher(namespace).matches()) {
      throw new IllegalArgumentException(
          "'" + namespace + "' is not a namespace. Use up to 64 letters, digits, '.', '_', '-'.");
    }
    return namespace;
  }

  /** What every key begins with. A namespace has no slash, so no two of them share keys. */
  String prefix() {
    return "/mortise/" + namespace + "/";
  }

  boolean isTls() {
    return members.get(0).getScheme().equals("https");
  }

  @Override
  public String toString() {
    return display;
  }
}
